"""The ledger as a run writes it: what happened, committed before anybody is told.

A run is recorded as `Running` before it does anything, and each model (`ModelRecords`) in one
transaction of its own; so a killed run leaves all that it had finished, and the next run says of
it that it died.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final

from rocky.canonical import record_json, record_json_of_list
from rocky.errors import ClaimLost, InternalError, LedgerUnreadable
from rocky.ledger.chain import FENCE_COUNTER
from rocky.ledger.claims import LocalClaim, TableBusy, is_alive
from rocky.ledger.database import WRITER_PATIENCE_SECONDS, connect_writer
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, GracePeriod, LoadedFile
from rocky.ledger.provenance import CollectedFile, InputIndexEntry, ProvenanceRecord
from rocky.ledger.record import (
    Record,
    RunId,
    began_by,
    format_time,
    iterate_below,
    key_of,
    load_json,
    run_id_at,
)
from rocky.ledger.run_records import (
    DIED,
    ArtifactRecord,
    BudgetBreach,
    ModelExecution,
    PartitionRecord,
    RunRecord,
    RunStatus,
    TableProgress,
    TotalsRecord,
    WatermarkState,
)
from rocky.ledger.schema import RUNNING, RowWriter


@dataclass(frozen=True, slots=True)
class RunFindings:
    """What is known of a run when its steps have ended: sums, breaches, and what was checked."""

    totals: TotalsRecord | None = None
    budget_breaches: Sequence[BudgetBreach] = ()
    check_outcomes: Sequence[CheckOutcome] = ()
    anomalies: Sequence[AnomalyRecord] = ()


@dataclass(frozen=True, slots=True)
class PipelineRecords:
    """What a pipeline remembers of a table beside its rows.

    `ended` are grace periods that are over: the column came back, or is gone from the copy too.
    """

    progress: TableProgress | None = None
    grace: Sequence[GracePeriod] = ()
    ended: Sequence[GracePeriod] = ()
    loaded: Sequence[LoadedFile] = ()


@dataclass(frozen=True, slots=True)
class ModelRecords:
    """What happened to a model, and what it left behind.

    `artifacts` may be of another run: one that died after a commit and before its record.
    `is_whole` when the table was given other content as a whole: whatever else is known of its
    partitions, watermark, grace periods and loaded files is no longer so, and is removed.
    """

    execution: ModelExecution
    artifacts: Sequence[ArtifactRecord] = ()
    partitions: Sequence[PartitionRecord] = ()
    watermark: WatermarkState | None = None
    provenance: ProvenanceRecord | None = None
    index: Sequence[InputIndexEntry] = ()
    pipeline: PipelineRecords = PipelineRecords()
    is_whole: bool = False


_MILLISECOND: Final = timedelta(milliseconds=1)
_PAUSE_SECONDS: Final = 0.1
NOTHING_FOUND: Final = RunFindings()


def open_ledger(
    path: Path,
    patience: float = WRITER_PATIENCE_SECONDS,
    is_alive_elsewhere: Callable[[str], bool] | None = None,
) -> "Ledger":
    """The ledger at a path, made if absent. `patience` is how long to wait for other writers.

    `is_alive_elsewhere` is asked of runs that no process of this machine is at work on.
    Raises LedgerUnreadable, LedgerUnwritable, LedgerLocked.
    """
    connection = connect_writer(path, patience)
    # Absolute: the process may change its folder while the run is running.
    ledger = Ledger(path.absolute(), connection, patience)
    ledger.is_alive_elsewhere = is_alive_elsewhere
    return ledger


class Ledger(LedgerFile):
    """One writer of a ledger, and all that can be recorded. A record that fails raises."""

    is_alive_elsewhere: Callable[[str], bool] | None = None

    def begin_run(self, record: RunRecord, targets: Sequence[str] = ()) -> RunId:
        """Record a run as Running and claim the tables, by full name, that it will write.

        A record without a fencing token gets the ledger's next one. Runs that died are first
        recorded as such. Raises LedgerLocked when a living run writes one of the tables; a command
        that holds one is waited for.
        """
        elsewhere = self._alive_elsewhere()
        with self.transaction() as rows:
            for run_id, document in self._dead_runs(rows):
                if run_id in elsewhere:
                    continue
                changes = {"status": RunStatus.FAILURE.value, "reason": DIED}
                self._end(rows, run_id, document, changes)
        deadline = monotonic() + self._patience
        while True:
            try:
                return self._claim_and_begin(record, tuple(targets))
            except TableBusy:
                if monotonic() > deadline:
                    raise
                sleep(_PAUSE_SECONDS)

    def _claim_and_begin(self, record: RunRecord, targets: tuple[str, ...]) -> RunId:
        held: LocalClaim | None = None
        try:
            with self.transaction() as rows:
                run_id = self._free_run_id(record.started_at)
                fence = self._next_fence(rows, record.fence)
                begun = replace(record, run_id=run_id, status=RunStatus.RUNNING, fence=fence)
                held = self._hold(run_id, record.started_at, targets)
                _put(rows, "run_history", run_id, begun)
        except BaseException:
            if held is not None:
                held.release()
            raise
        self._claims[run_id] = held
        return run_id

    def _next_fence(self, rows: RowWriter, given: int | None) -> int:
        """A token above all that this ledger has given, or the one that others have agreed on."""
        newest = int(rows.find("metadata", FENCE_COUNTER) or 0)
        fence = newest + 1 if given is None else given
        rows.put("metadata", FENCE_COUNTER, str(max(newest, fence)))
        return fence

    def check_claim(self, run_id: RunId) -> None:
        """Raise ClaimLost when the claim of a run of this process was taken away."""
        held = self._claims.get(run_id)
        if held is not None:
            held.check()

    def amend_run(self, run_id: RunId, **facts: Any) -> None:
        """Add what is known of a run once it has begun, each fact once: `engine`, `commit_key`.

        Raises ClaimLost for a run that others have recorded as dead.
        """
        with self.transaction() as rows:
            self.refuse_dead(rows, run_id)
            document = self._run_document(rows, run_id)
            _put_json(rows, "run_history", run_id, {**document, **facts})

    def record_models(self, run_id: RunId, records: Sequence[ModelRecords]) -> None:
        """All there is to say of several models in a run, in one transaction.

        Raises ClaimLost for a run that others have recorded as dead.
        """
        with self.transaction() as rows:
            self.refuse_dead(rows, run_id)
            for each in records:
                put_model(rows, run_id, each)

    def record_collected(self, files: Sequence[CollectedFile]) -> None:
        """That files were removed because nothing needs them any more."""
        with self.transaction() as rows:
            for file in files:
                key = key_of(format_time(file.collected_at), file.file_path)
                _put(rows, "collected_files", key, file)

    def finish_run(
        self,
        run_id: RunId,
        status: RunStatus,
        finished_at: datetime,
        *,
        reason: str | None = None,
        found: RunFindings = NOTHING_FOUND,
        anchored: bool = False,
    ) -> None:
        """End a run: its record gets its models, its claim is given up.

        One that others have recorded as dead stays so; raises ClaimLost where it was to be more.
        """
        changes: dict[str, Any] = {
            "status": status.value,
            "finished_at": format_time(finished_at),
            "reason": reason,
            "totals": found.totals.to_json() if found.totals is not None else None,
            "budget_breaches": [each.to_json() for each in found.budget_breaches] or None,
            "check_outcomes": [each.to_json() for each in found.check_outcomes] or None,
            "anomalies": [each.to_json() for each in found.anomalies] or None,
            "anchored": anchored or None,
        }
        with self.transaction() as rows:
            if status is not RunStatus.FAILURE:
                self.refuse_dead(rows, run_id)
            document = self._run_document(rows, run_id)
            if not _is_dead(document):
                self._end(rows, run_id, document, changes)
        held = self._claims.pop(run_id, None)
        if held is not None:
            held.release()

    def refuse_dead(self, rows: RowWriter, run_id: RunId) -> None:
        """Raise ClaimLost for a run that others have recorded as dead: they went on from there."""
        document = rows.find("run_history", run_id)
        if document is not None and _is_dead(load_json(self.path, "run_history", run_id, document)):
            raise ClaimLost(
                f"run `{run_id}` was recorded as dead while its process was stopped or could not be"
                " reached, so it records nothing more; run again"
            )

    def _free_run_id(self, started_at: datetime) -> RunId:
        """The id of a run that starts now; a millisecond later while another run has it."""
        moment = started_at
        while True:
            run_id = run_id_at(moment)
            found = self._connection.execute("SELECT 1 FROM run_history WHERE key = ?", (run_id,))
            if found.fetchone() is None and not is_alive(self.path, run_id):
                return run_id
            moment += _MILLISECOND

    def _alive_elsewhere(self) -> frozenset[str]:
        """Running runs that another machine is at work on: asked before the file is locked."""
        ask = self.is_alive_elsewhere
        if ask is None:
            return frozenset()
        with self.lookups() as lookups:
            running = lookups.running_runs()
        return frozenset(run_id for run_id in running if ask(run_id))

    def _dead_runs(self, rows: RowWriter) -> list[tuple[RunId, dict[str, Any]]]:
        """Runs to be recorded as dead.

        One whose record somebody has changed is left to be found; readers show it as dead anyway.
        """
        found = self._connection.execute(
            f"SELECT key, value FROM run_history WHERE {RUNNING}"  # noqa: S608 - one of our own expressions
        )
        return [
            (RunId(key), load_json(self.path, "run_history", key, value))
            for key, value in found.fetchall()
            if not is_alive(self.path, key) and rows.is_untouched("run_history", key, value)
        ]

    def _run_document(self, rows: RowWriter, run_id: RunId) -> dict[str, Any]:
        row = self._connection.execute(
            "SELECT value FROM run_history WHERE key = ?", (run_id,)
        ).fetchone()
        if row is None:
            raise InternalError(f"run `{run_id}` was never started")
        if not rows.is_untouched("run_history", run_id, row[0]):
            raise LedgerUnreadable(
                f"the record of run `{run_id}` in the state file `{self.path}` was changed by"
                " something other than Rocky; see what `rocky verify` finds"
            )
        return load_json(self.path, "run_history", run_id, row[0])

    def _end(
        self, rows: RowWriter, run_id: RunId, document: dict[str, Any], changes: Mapping[str, Any]
    ) -> None:
        """Finish a run's record. Keys that a newer Rocky may have added are kept."""
        merged = {**document, **changes}
        if document.get("reason") not in (None, merged.get("reason")):
            # Nothing of what was recorded is lost: earlier entries can be made again from it.
            merged["purpose"] = document["reason"]
        ended = {key: value for key, value in merged.items() if value is not None}
        text = record_json_of_list(ended, "models_executed", self._executions(run_id))
        rows.put("run_history", run_id, text)

    def _executions(self, run_id: RunId) -> Iterator[str]:
        """The executions of a run as they are recorded, in the order in which they were begun.

        One after another: there may be ten thousands.
        """
        found = []
        for key, value in iterate_below(self._connection, "model_executions", run_id):
            document = load_json(self.path, "model_executions", key, value)
            found.append((*began_by(document), record_json(document)))
        found.sort()
        return (text for *_, text in found)


def _is_dead(document: Mapping[str, Any]) -> bool:
    """Whether the record of a run was ended by others, who found its process gone."""
    ended = document.get("status") == RunStatus.FAILURE.value
    return ended and document.get("reason") == DIED


def newest_fence(ledger: Ledger) -> int:
    """The highest fencing token that a ledger knows of."""
    with ledger.transaction() as rows:
        return int(rows.find("metadata", FENCE_COUNTER) or 0)


def put_model(rows: RowWriter, run_id: RunId, records: ModelRecords) -> None:
    """All there is to say of a model, within a transaction that is open."""
    name = key_of(run_id, records.execution.model_name.lower())
    _put(rows, "model_executions", name, records.execution)
    for artifact in records.artifacts:
        key = key_of(artifact.run_id, artifact.model_name, artifact.file_path)
        _put(rows, "output_artifacts", key, artifact)
    known = {
        key_of(each.model_name.lower(), each.partition_key): each for each in records.partitions
    }
    for key, partition in known.items():
        _put(rows, "partitions", key, partition)
    if records.is_whole:
        _remove_others(rows, "partitions", records.execution.model_name, known)
    if records.watermark is not None:
        _put(rows, "watermarks", key_of(records.watermark.table.lower()), records.watermark)
    elif records.is_whole:
        rows.remove("watermarks", key_of(str(records.execution.target).lower()))
    if records.provenance is not None:
        _put(rows, "input_provenance", name, records.provenance)
    for entry in records.index:
        _put(rows, "input_index", entry.input_hash, entry)
    whole = str(records.execution.target) if records.is_whole else None
    _put_pipeline(rows, run_id, records.pipeline, whole)


def _put_pipeline(
    rows: RowWriter, run_id: RunId, records: PipelineRecords, whole: str | None
) -> None:
    """`whole` is a table of which there is nothing else to remember."""
    grace = {key_of(each.table.lower(), each.column.lower()): each for each in records.grace}
    for key, each in grace.items():
        _put(rows, "grace_periods", key, each)
    for each in records.ended:
        rows.remove("grace_periods", key_of(each.table.lower(), each.column.lower()))
    if whole is not None:
        _remove_others(rows, "grace_periods", whole, grace)
    loaded = {key_of(each.table.lower(), each.blake3_hash): each for each in records.loaded}
    for key, file in loaded.items():
        _put(rows, "loaded_files", key, replace(file, run_id=run_id))
    if whole is not None:
        _remove_others(rows, "loaded_files", whole, loaded)
    if records.progress is not None:
        _put(rows, "run_progress", key_of(run_id, records.progress.table_key), records.progress)


def _remove_others(rows: RowWriter, table: str, name: str, kept: Container[str]) -> None:
    for key in rows.keys_below(table, name.lower()):
        if key not in kept:
            rows.remove(table, key)


def _put(rows: RowWriter, table: str, key: str, record: Record) -> None:
    _put_json(rows, table, key, record.to_json())


def _put_json(rows: RowWriter, table: str, key: str, document: Mapping[str, Any]) -> None:
    rows.put(table, key, record_json(document))
