"""The records of a ledger, loaded once for checking: runs, executions and files, with their places.

A row that is not the record it should be is reported and left out; what refers to it is then found
wanting too. A record names its place as it was then. A project may have been moved and run again
since, so two recorded roots may be one warehouse: everything is looked up by where that is now.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeVar

from rocky.errors import LedgerUnreadable, StoreUnreadable
from rocky.evidence.findings import FindingCode, Findings
from rocky.ledger.branch_records import (
    BRANCHES,
    PROMOTIONS,
    BranchRecord,
    PromotionRecord,
    former_key,
)
from rocky.ledger.erasure_records import ERASURES, ErasureRecord
from rocky.ledger.governance_records import GOVERNANCE, GovernanceRecord
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.provenance import CollectedFile, InputIndexEntry, ProvenanceRecord
from rocky.ledger.readers.evidence import EvidenceReader
from rocky.ledger.record import Record, format_time, key_of, load_record
from rocky.ledger.run_records import (
    ArtifactRecord,
    ModelExecution,
    PartitionRecord,
    RunRecord,
    RunStatus,
    WatermarkState,
)
from rocky.ledger.sweep import SWEEPS, SweepRecord
from rocky.store.data_file import is_uri
from rocky.store.warehouse import Warehouse

OpenWarehouse = Callable[[str], Warehouse]
"""The warehouse that was recorded at a place, wherever it lies now."""

_BELOW_ROOT: Final = 4
"""A file lies at `<root>/<catalog>/<schema>/<table>/<name>`."""
_DOTS: Final = 2


class TablePlace(NamedTuple):
    """A table by the root of its warehouse and its folder below that."""

    root: str
    prefix: str

    @property
    def name(self) -> str:
        return self.prefix.replace("/", ".")

    def place(self, path: str) -> str:
        return f"{self.root}/{self.prefix}/{path}"


@dataclass(frozen=True, slots=True)
class Places:
    """Finds warehouses by their recorded roots, and tables by their names."""

    open_warehouse: OpenWarehouse
    _warehouses: dict[str, Warehouse] = field(default_factory=dict)
    _tables: dict[tuple[str, str], TablePlace] = field(default_factory=dict)

    def warehouse(self, root: str) -> Warehouse:
        """Raises StoreUnreadable for what is no root."""
        found = self._warehouses.get(root)
        if found is None:
            found = self._warehouses[root] = self.open_warehouse(root)
            self._warehouses.setdefault(found.objects.place(""), found)
        return found

    def root(self, recorded: str) -> str:
        """Where a recorded root is now."""
        try:
            return self.warehouse(recorded).objects.place("")
        except StoreUnreadable:
            # Whoever looks there will say so; a record that nobody asks about is no reason to stop.
            return recorded

    def file(self, recorded: str) -> str:
        """Where a recorded data file is now."""
        place, name = split_place(recorded)
        now = place._replace(root=self.root(place.root))
        self._tables.setdefault((now.root, now.name), now)
        return now.place(name)

    def data_file(self, table: TablePlace, path: str) -> str:
        """Where a file is now that the log of a table calls `path`."""
        if not is_uri(path):
            return table.place(path)
        # Spark's name of the scheme; records have the one that everybody knows.
        return self.file(f"s3://{path.partition('://')[2]}")

    def table(self, root: str, target: str) -> TablePlace:
        """A table by its full name, which does not say where a part with a dot in it ends."""
        found = self._tables.get((root, target))
        if found is None and target.count(".") > _DOTS:
            folders = {each.name: each.prefix for each in self.warehouse(root).tables()}
            found = TablePlace(root, folders[target]) if target in folders else None
        if found is None:
            found = TablePlace(root, target.replace(".", "/", _DOTS))
        return self._tables.setdefault((root, target), found)


def split_place(place: str) -> tuple[TablePlace, str]:
    """The table that a file belongs to, and the file's path below it."""
    parts = place.split("/")
    root, table = "/".join(parts[:-_BELOW_ROOT]), "/".join(parts[-_BELOW_ROOT:-1])
    return TablePlace(root, table), parts[-1]


R = TypeVar("R", bound=Record)
Maker = tuple[str, str]
"""A run and a model, in lower case: what rows of several tables are joined by."""


@dataclass(frozen=True, slots=True)
class LedgerRecords:
    """What the ledger says. `files` are the recorded ones of each maker, by their place."""

    places: Places
    runs: dict[str, RunRecord] = field(default_factory=dict)
    executions: dict[Maker, ModelExecution] = field(default_factory=dict)
    files: dict[Maker, dict[str, ArtifactRecord]] = field(default_factory=dict)
    index: tuple[InputIndexEntry, ...] = ()
    collected: dict[str, CollectedFile] = field(default_factory=dict)
    written: dict[str, datetime] = field(default_factory=dict)
    sweeps: dict[str, SweepRecord] = field(default_factory=dict)
    promotions: dict[str, PromotionRecord] = field(default_factory=dict)
    erasures: dict[str, ErasureRecord] = field(default_factory=dict)

    @property
    def settled_runs(self) -> frozenset[str]:
        """Promotions, reverts and recoveries that are recorded: what they committed is as well."""
        found = self.promotions.values()
        return frozenset(run for each in found for run in (each.run_id, each.recovers) if run)

    def artifacts(self) -> Iterator[ArtifactRecord]:
        for found in self.files.values():
            yield from found.values()

    def last_written(self, place: str) -> datetime:
        """When a file was last recorded as written."""
        return self.written[place]

    def root_of(self, run_id: str) -> str | None:
        """Where the warehouse of a run is; early records do not say."""
        run = self.runs.get(run_id)
        return run.warehouse if run is not None else None


_OTHER_TABLES: Final[tuple[tuple[type[Record], str], ...]] = (
    (PartitionRecord, "partitions"),
    (WatermarkState, "watermarks"),
    (GracePeriod, "grace_periods"),
    (LoadedFile, "loaded_files"),
    (BranchRecord, BRANCHES),
    (GovernanceRecord, GOVERNANCE),
)


def load_ledger_records(
    reader: EvidenceReader, places: Places, findings: Findings
) -> LedgerRecords:
    """Everything but provenance, which is large and read as it is checked."""
    rows = _RowLoader(reader, findings)
    index = (
        replace(each, output_path=tuple(map(places.file, each.output_path)))
        for _, each in rows.load(InputIndexEntry, "input_index")
    )
    recorded = LedgerRecords(places, index=tuple(index))
    for key, execution in rows.load(ModelExecution, "model_executions"):
        recorded.executions[maker_of(key.partition("|")[0], execution.model_name)] = execution
    for _, stored in rows.load(ArtifactRecord, "output_artifacts"):
        artifact = replace(stored, file_path=places.file(stored.file_path))
        maker = maker_of(artifact.run_id, artifact.model_name)
        recorded.files.setdefault(maker, {})[artifact.file_path] = artifact
        last = recorded.written.get(artifact.file_path, artifact.written_at)
        recorded.written[artifact.file_path] = max(last, artifact.written_at)
    for _, each in rows.load(CollectedFile, "collected_files"):
        recorded.collected[places.file(each.file_path)] = each
    # Nothing hangs on these, but they must be what they are taken for.
    for kind, table in _OTHER_TABLES:
        for _ in rows.load(kind, table):
            pass
    recorded.sweeps.update(rows.load(SweepRecord, SWEEPS))
    recorded.promotions.update(rows.load(PromotionRecord, PROMOTIONS))
    recorded.erasures.update(rows.load(ErasureRecord, ERASURES))
    models: dict[str, list[ModelExecution]] = {}
    for (run_id, _), execution in recorded.executions.items():
        models.setdefault(run_id, []).append(execution)
    for _, run in rows.load(RunRecord, "run_history"):
        _check_models(run, models.pop(run.run_id, []), findings)
        root = places.root(run.warehouse) if run.warehouse is not None else None
        recorded.runs[run.run_id] = replace(run, models_executed=(), warehouse=root)
    for run_id in models:
        why = "models were recorded for a run that has no record"
        findings.add(FindingCode.RECORD_MISSING, f"run_history {run_id}", why)
    return recorded


def load_provenances(
    reader: EvidenceReader, places: Places, findings: Findings
) -> Iterator[ProvenanceRecord]:
    """What builds were made from, one at a time."""
    for _, record in _RowLoader(reader, findings).load(ProvenanceRecord, "input_provenance"):
        yield replace(record, output_path=tuple(map(places.file, record.output_path)))


def load_runs(reader: EvidenceReader) -> Iterator[RunRecord]:
    """The records of runs alone; what is none was reported where the chain was read."""
    for _, run in _RowLoader(reader, Findings()).load(RunRecord, "run_history"):
        yield run


def maker_of(run_id: str, model: str) -> Maker:
    return run_id, model.lower()


class _RowLoader:
    def __init__(self, reader: EvidenceReader, findings: Findings) -> None:
        self._reader = reader
        self._findings = findings

    def load(self, kind: type[R], table: str) -> Iterator[tuple[str, R]]:
        """The records of a table; what is none, or lies under another key, is reported."""
        for key, text in self._reader.rows(table):
            where = f"{table} {key}"
            try:
                record = load_record(kind, self._reader.path, table, key, text)
            except LedgerUnreadable as wrong:
                self._findings.add(FindingCode.RECORD_MALFORMED, where, str(wrong))
                continue
            self._findings.expect(
                key in _keys_of(record, key),
                FindingCode.RECORD_INCONSISTENT,
                where,
                "its key is not that of what it says",
            )
            yield key, record


def _keys_of(record: Any, key: str) -> tuple[str, ...]:
    """The keys a record may lie under; any for one that does not say."""
    match record:
        case RunRecord() | PromotionRecord() | ErasureRecord():
            return (record.run_id,)
        case ModelExecution():
            return (key_of(key.partition("|")[0], record.model_name.lower()),)
        case ArtifactRecord():
            return (key_of(record.run_id, record.model_name, record.file_path),)
        case ProvenanceRecord():
            return (key_of(record.run_id, record.model_name.lower()),)
        case InputIndexEntry():
            return (record.input_hash,)
        case GracePeriod():
            return (key_of(record.table.lower(), record.column.lower()),)
        case LoadedFile():
            return (key_of(record.table.lower(), record.blake3_hash),)
        case SweepRecord():
            return (format_time(record.at),)
        case BranchRecord():
            return (key_of(record.name.lower()), former_key(record))
        case _:
            return (key,)


def _check_models(run: RunRecord, models: list[ModelExecution], findings: Findings) -> None:
    """A run that has ended carries a copy of what is recorded of its models."""
    if run.status is RunStatus.RUNNING:
        return
    done = sorted(models, key=lambda each: (each.started_at, each.model_name))
    findings.expect(
        list(run.models_executed) == done,
        FindingCode.RECORD_INCONSISTENT,
        f"run_history {run.run_id}",
        "its `models_executed` is not what `model_executions` says of this run",
    )
