"""The transfer of records: what one ledger knows of a table, said for its copy in another ledger.

Hashes of code and content are the same on both sides; what differs is who records it, where the
files lie, and the numbers of versions. A result that can be proved on one side can be proved on the
other: whatever cannot be said for certain there is left out, and so is built when it is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord, ReadRecord, with_hashes_of
from rocky.ledger.readers.history import open_history_reader
from rocky.ledger.readers.table import TableRecords, open_table_record_reader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    NO_MARK,
    ArtifactRecord,
    ModelExecution,
    ModelStatus,
    PartitionRecord,
    RunRecord,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords, PipelineRecords
from rocky.plan.watermarks import watermark_value
from rocky.run.materialize.seeds import SEED_HASH
from rocky.run.record.commits import commit_records
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK, Snapshot
from rocky.store.warehouse import Table


def recorded_tables(state: Path, until: str | None = None) -> Mapping[str, TableRecords]:
    """What a ledger knows of its tables, by target, as a run left them; none without a ledger."""
    lookups = open_table_record_reader(state)
    if lookups is None:
        return {}
    with lookups:
        return lookups.tables(until)


@dataclass(frozen=True, slots=True)
class BranchHistory:
    """What a branch's own ledger knows of its tables, by target, and of the runs that made them."""

    tables: Mapping[str, TableRecords]
    runs: Mapping[str, RunRecord]


def load_branch_history(state: Path) -> BranchHistory:
    """What is recorded on a branch. Raises LedgerUnreadable."""
    tables = recorded_tables(state)
    reader = open_history_reader(state)
    if reader is None:
        return BranchHistory({}, {})
    with reader:
        found = {each.run_id: reader.run(each.run_id) for each in tables.values()}
    return BranchHistory(tables, {key: run for key, run in found.items() if run is not None})


def code_of(snapshot: Snapshot, known: TableRecords | None) -> str | None:
    """What tells the code that made a table from another: of a seed, the hash of its file."""
    loaded = snapshot.configuration.get(SEED_HASH)
    return loaded if loaded is not None or known is None else known.execution.skip_hash


VersionOf = Callable[[str, str | None], int | None]
"""The version of a table, by target, that has some content, there; None where none has."""


@dataclass(frozen=True, slots=True)
class TableArrival:
    """A table as it has arrived: where, by which commit, recorded by which run, and why.

    `model_name` is what the table goes by there, `base` the version it had before. `is_whole` when
    nothing else that was remembered of the table there holds any more.
    """

    run_id: RunId
    now: datetime
    table: Table
    committed: Committed
    model_name: str
    decision: str
    reason: str
    version_of: VersionOf
    base: int | None = None
    is_whole: bool = False


def transfer_records(arrival: TableArrival, known: TableRecords | None) -> ModelRecords:
    """The records of an arrival; of a table that nobody recorded only that it has arrived."""
    snapshot = arrival.committed.snapshot
    provenance = None
    if known is not None and known.provenance is not None:
        provenance = _provenance(arrival, known.provenance, snapshot)
    execution = _execution(arrival, known, provenance)
    return ModelRecords(
        execution,
        tuple(_artifacts(arrival)),
        _partitions(arrival, known),
        _watermark(arrival, known),
        provenance,
        tuple(_index(arrival, provenance, known)),
        PipelineRecords(
            grace=known.grace if known is not None else (),
            loaded=known.loaded if known is not None else (),
        ),
        is_whole=arrival.is_whole,
    )


def _execution(
    arrival: TableArrival, known: TableRecords | None, provenance: ProvenanceRecord | None
) -> ModelExecution:
    snapshot = arrival.committed.snapshot
    before = known.execution if known is not None else None
    execution = ModelExecution(
        arrival.model_name,
        ModelStatus.SUCCESS,
        arrival.now,
        arrival.now,
        0,
        target=arrival.table.name,
        decision=arrival.decision,
        reason=arrival.reason,
        rows_hash=snapshot.configuration.get(ROWS_HASH),
        files=len(snapshot.files),
        bytes_written=0,
        commit_version=snapshot.version,
        commits=commit_records([arrival.committed]),
    )
    if before is not None:
        execution = replace(
            execution,
            strategy=before.strategy,
            canonical=before.canonical,
            watermark=before.watermark,
            tags=before.tags,
            source_marker=before.source_marker,
            source_columns=before.source_columns,
            copied_from=before.copied_from,
        )
    return with_hashes_of(execution, provenance)


def _artifacts(arrival: TableArrival) -> list[ArtifactRecord]:
    """Every file of the table: whoever verifies it here finds each of them recorded."""
    committed, table = arrival.committed, arrival.table
    return [
        ArtifactRecord(
            file.address,
            arrival.run_id,
            arrival.model_name,
            _place(table, file),
            committed.snapshot.version,
            file.size,
            arrival.now,
        )
        for file in committed.snapshot.files
    ]


def _partitions(arrival: TableArrival, known: TableRecords | None) -> tuple[PartitionRecord, ...]:
    found = known.partitions if known is not None else ()
    return tuple(
        replace(each, model_name=arrival.model_name, run_id=arrival.run_id) for each in found
    )


def _place(table: Table, file: DataFile) -> str:
    place = table.place_of(file)
    return place.objects.place(place.path)


def _watermark(arrival: TableArrival, known: TableRecords | None) -> WatermarkState | None:
    """The mark that the table itself has: the ledger's may be older."""
    said = arrival.committed.snapshot.configuration.get(WATERMARK)
    if said is None and (known is None or known.watermark is None):
        return None
    value = NO_MARK if said is None else watermark_value(said)
    return WatermarkState(
        arrival.table.name, value, arrival.now, arrival.model_name, arrival.run_id
    )


def _provenance(
    arrival: TableArrival, made: ProvenanceRecord, snapshot: Snapshot
) -> ProvenanceRecord | None:
    """What the table was made from, said for where it is now; None when it is not that build's."""
    files = snapshot.files
    if sorted(made.output_blake3) != sorted(file.address for file in files):
        return None
    started_from = made.base_version is not None
    if started_from and arrival.base is None:
        # It was added to rows that this side never had as a table of their own.
        return None
    return replace(
        made,
        run_id=arrival.run_id,
        model_name=arrival.model_name,
        target=arrival.table.name,
        recorded_at=arrival.now,
        output_blake3=tuple(file.address for file in files),
        output_path=tuple(_place(arrival.table, file) for file in files),
        output_version=snapshot.version,
        base_version=arrival.base if started_from else None,
        reads=tuple(_read(each, arrival.version_of) for each in made.reads),
    )


def _read(read: ReadRecord, version_of: VersionOf) -> ReadRecord:
    below = tuple(_read(each, version_of) for each in read.reads)
    if read.kind != "table" or read.target is None:
        return replace(read, reads=below)
    return replace(read, version=version_of(read.target, read.identity), reads=below)


def _index(
    arrival: TableArrival, made: ProvenanceRecord | None, known: TableRecords | None
) -> list[InputIndexEntry]:
    if made is None or known is None:
        return []
    if (
        made.proof_class not in ("strong", "stat")
        or made.env_hash is None
        or made.output_version is None
    ):
        return []
    found = {made.cutoff_hash: "rows", made.input_hash: "content"}
    return [
        InputIndexEntry(
            str(hashed),
            basis,
            arrival.run_id,
            arrival.model_name,
            made.target,
            made.output_version,
            made.proof_class,
            made.env_hash,
            arrival.now,
            made.output_blake3,
            made.output_path,
        )
        for hashed, basis in found.items()
        if hashed in known.indexed
    ]
