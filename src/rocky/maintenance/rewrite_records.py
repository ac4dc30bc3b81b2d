"""The records of a rewrite: a table that a run has cut into other files, or deleted old rows of.

Where the rows are the same, what they were made from still holds, so the build that made them is
said again for the new files, and found by the same inputs: a run has no reason to build the table
anew. Where the table is not what a build left, which a run that died may have changed, nothing is
said and its next run looks for itself.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord, with_hashes_of
from rocky.ledger.readers.table import TableRecords
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ArtifactRecord, ModelExecution, ModelStatus
from rocky.ledger.writer import ModelRecords
from rocky.maintenance.tables import RecordedTable
from rocky.run.record.commits import commit_records
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

COMPACTED: Final = "compact"
"""The `decision` of an execution that has only cut the rows of a table into other files."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A table that a run has rewritten by one commit: what it was, what became of it, and why."""

    found: RecordedTable
    committed: Committed
    decision: str
    reason: str
    run_id: RunId
    started_at: datetime
    finished_at: datetime


def rewrite_records(done: Rewrite) -> ModelRecords:
    """What a run has done to a table whose rows it has left as they were."""
    provenance = _provenance(done)
    return ModelRecords(
        _execution(done, provenance),
        _artifacts(done),
        provenance=provenance,
        index=_index(done.found.known, done.found.snapshot, provenance, done.finished_at),
    )


def deletion_records(done: Rewrite, rows: int) -> ModelRecords:
    """What a run has done that deleted rows: no build has made what is left."""
    return ModelRecords(replace(_execution(done, None), rows_affected=rows), _artifacts(done))


def _artifacts(done: Rewrite) -> tuple[ArtifactRecord, ...]:
    """The files that the commit added."""
    return tuple(
        ArtifactRecord(
            file.address,
            done.run_id,
            done.found.model,
            str(done.found.table.place_of(file)),
            done.committed.snapshot.version,
            file.size,
            done.finished_at,
        )
        for file in done.committed.added
    )


def _execution(done: Rewrite, provenance: ProvenanceRecord | None) -> ModelExecution:
    before, snapshot = done.found.known.execution, done.committed.snapshot
    execution = ModelExecution(
        done.found.model,
        ModelStatus.SUCCESS,
        done.started_at,
        done.finished_at,
        round((done.finished_at - done.started_at).total_seconds() * 1000),
        target=done.found.table.name,
        strategy=before.strategy,
        decision=done.decision,
        reason=done.reason,
        rows_affected=0,
        rows_hash=snapshot.configuration.get(ROWS_HASH),
        files=len(snapshot.files),
        bytes_written=sum(file.size for file in done.committed.added),
        commit_version=snapshot.version,
        commits=commit_records([done.committed]),
        watermark=before.watermark,
        source_marker=before.source_marker,
        source_columns=before.source_columns,
        copied_from=before.copied_from,
        tags=before.tags,
    )
    return with_hashes_of(execution, provenance)


def _provenance(done: Rewrite) -> ProvenanceRecord | None:
    """What the rows were made from, said for the new files; None when it is not known."""
    found, snapshot = done.found, done.committed.snapshot
    made = found.known.provenance
    before = sorted(file.address for file in found.snapshot.files)
    if made is None or sorted(made.output_blake3) != before:
        return None
    # A build cuts its rows otherwise: whoever replays it must not wait for the same bytes.
    layout = None if made.layout is None else replace(made.layout, canonical=False)
    return replace(
        made,
        run_id=done.run_id,
        model_name=found.model,
        recorded_at=done.finished_at,
        output_blake3=tuple(file.address for file in snapshot.files),
        output_path=tuple(str(found.table.place_of(file)) for file in snapshot.files),
        output_version=snapshot.version,
        layout=layout,
    )


def _index(
    known: TableRecords, before: Snapshot, made: ProvenanceRecord | None, now: datetime
) -> tuple[InputIndexEntry, ...]:
    """The entries by which the build was found, which find it in its new files from now on."""
    if made is None or made.output_version is None:
        return ()
    return tuple(
        replace(
            entry,
            run_id=made.run_id,
            model_name=made.model_name,
            commit_version=made.output_version,
            recorded_at=now,
            output_blake3=made.output_blake3,
            output_path=made.output_path,
        )
        for entry in known.entries
        if entry.commit_version == before.version
    )
