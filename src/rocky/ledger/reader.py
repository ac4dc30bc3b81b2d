"""The ledger as history, state, cost and planning read it. Never creates or changes a file.

A run that says it is running and whose process is gone is shown as the next run will record it:
failed, because it died.
"""

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from rocky.ledger.claims import is_alive
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader
from rocky.ledger.questions import Questions, RecordedExecution
from rocky.ledger.record import Record
from rocky.ledger.records import (
    DIED,
    ArtifactRecord,
    ModelExecution,
    PartitionRecord,
    RunRecord,
    RunStatus,
    TableProgress,
    WatermarkState,
)
from rocky.ledger.rows import key_of, load_record, run_id_at
from rocky.ledger.schema import MODEL_OF_KEY

LATEST: Final = "latest"
_EVERYTHING: Final = -1

R = TypeVar("R", bound=Record)


class LedgerTotals(NamedTuple):
    """How much a ledger holds."""

    runs: int
    executions: int
    artifacts: int


EMPTY: Final = LedgerTotals(0, 0, 0)


def open_reader(path: Path, patience: float = READER_PATIENCE_SECONDS) -> "Reader | None":
    """A reader, or None when there is no ledger yet. Raises LedgerUnreadable, LedgerLocked."""
    connection = connect_reader(path, patience)
    return Reader(path, connection) if connection is not None else None


class Reader(Questions):
    """Answers from a ledger. For one thread; others open their own."""

    alive_elsewhere: frozenset[str] = frozenset()
    """Runs that are at work on other machines: their locks cannot be seen from here."""

    def runs(
        self, limit: int | None = None, since: datetime | None = None
    ) -> tuple[RunRecord, ...]:
        """Runs, newest first; only those that are returned are decoded."""
        # Ids sort as times do, and `run-2026...` is the first id of that moment.
        first = run_id_at(since) if since is not None else ""
        rows = self._ask(
            "SELECT key, value FROM run_history WHERE key >= ? ORDER BY key DESC LIMIT ?",
            first,
            _EVERYTHING if limit is None else limit,
        )
        return tuple(self._completed(self._run(key, value)) for key, value in rows)

    def run(self, run_id: str) -> RunRecord | None:
        """One run; `latest` is the newest."""
        if run_id == LATEST:
            return next(iter(self.runs(limit=1)), None)
        rows = self._ask("SELECT key, value FROM run_history WHERE key = ?", run_id)
        return self._completed(self._run(*rows[0])) if rows else None

    def executions(
        self, model: str, limit: int | None = None, since: datetime | None = None
    ) -> tuple[RecordedExecution, ...]:
        """A model's executions over all history, newest first."""
        rows = self._ask(
            f"SELECT key, value FROM model_executions WHERE {MODEL_OF_KEY} = ?"  # noqa: S608 - one of our own expressions
            " AND key >= ? ORDER BY key DESC LIMIT ?",
            key_of(model.lower()),
            run_id_at(since) if since is not None else "",
            _EVERYTHING if limit is None else limit,
        )
        return tuple(self._execution(key, value) for key, value in rows)

    def last_execution(self, model: str) -> RecordedExecution | None:
        return next(iter(self.executions(model, limit=1)), None)

    def artifacts(self, run_id: str, model: str | None = None) -> tuple[ArtifactRecord, ...]:
        """The files a run wrote, all or those of one model."""
        found = self._below(ArtifactRecord, "output_artifacts", run_id)
        return tuple(
            each for each in found if model is None or each.model_name.lower() == model.lower()
        )

    def watermarks(self) -> tuple[WatermarkState, ...]:
        """How far each incremental table has been loaded, by table."""
        return self._all(WatermarkState, "watermarks")

    def partitions(self, model: str | None = None) -> tuple[PartitionRecord, ...]:
        """The time intervals of one model, or of all."""
        if model is None:
            return self._all(PartitionRecord, "partitions")
        found = self._below(PartitionRecord, "partitions", model.lower())
        return tuple(each for each in found if each.model_name.lower() == model.lower())

    def progress(self, run_id: str) -> tuple[TableProgress, ...]:
        """The tables a run has done with, in its own order."""
        found = self._below(TableProgress, "run_progress", run_id)
        return tuple(sorted(found, key=lambda each: each.index))

    def totals(self) -> LedgerTotals:
        rows = self._ask(
            "SELECT (SELECT count(*) FROM run_history), (SELECT count(*) FROM model_executions),"
            " (SELECT count(*) FROM output_artifacts)"
        )
        return LedgerTotals(*rows[0])

    def _completed(self, run: RunRecord) -> RunRecord:
        """A run that has not ended, with the models it has done, and dead if its process is."""
        if run.status is not RunStatus.RUNNING:
            return run
        if run.run_id not in self.alive_elsewhere and not is_alive(self.path, run.run_id):
            # It may have ended in an orderly way since we read its record.
            rows = self._ask("SELECT key, value FROM run_history WHERE key = ?", run.run_id)
            run = self._run(*rows[0]) if rows else run
            if run.status is not RunStatus.RUNNING:
                return run
            run = replace(run, status=RunStatus.FAILURE, reason=DIED)
        done = self._below(ModelExecution, "model_executions", run.run_id)
        in_order = sorted(done, key=lambda each: (each.started_at, each.model_name))
        return replace(run, models_executed=tuple(in_order))

    def _run(self, key: str, value: Any) -> RunRecord:
        return load_record(RunRecord, self.path, "run_history", key, value)

    def _all(self, kind: type[R], table: str) -> tuple[R, ...]:
        rows = self._ask(f"SELECT key, value FROM {table} ORDER BY key")  # noqa: S608 - one of our own names
        return tuple(load_record(kind, self.path, table, key, value) for key, value in rows)
