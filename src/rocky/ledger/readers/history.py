"""The history reader: the ledger as history, state, cost and planning read it.

`LedgerReader` is what every reader has: a connection, and rows turned into records. A run that says
it is running and whose process is gone is shown as the next run will record it: failed, because it
died. One in which nothing had changed is shown with the models of the run that looked.
"""

import json
import sqlite3
from collections.abc import Generator, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

from rocky.ledger.claims import is_alive
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.record import Record, RunId, key_of, load_record, rows_below, run_id_at, run_meant
from rocky.ledger.run_records import (
    DIED,
    ArtifactRecord,
    ModelExecution,
    PartitionRecord,
    RunRecord,
    RunStatus,
    WatermarkState,
    unchanged_executions,
)
from rocky.ledger.schema import (
    CHAINED_SINCE,
    MODEL_OF_KEY,
    definitions_version,
    stored_version,
)

R = TypeVar("R", bound=Record)


class RecordedExecution(NamedTuple):
    """A model's execution and the run it belongs to."""

    run_id: RunId
    execution: ModelExecution


class LedgerReader:
    """Asks a ledger. For one thread; others open their own."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        with translated(path, writing=False):
            self.schema_version = stored_version(connection)
            self._definitions = definitions_version(connection)

    @classmethod
    def open(cls, path: Path, patience: float = READER_PATIENCE_SECONDS) -> Self | None:
        """A reader, or None when there is no ledger yet. Raises LedgerUnreadable, LedgerLocked."""
        connection = connect_reader(path, patience)
        return cls(path, connection) if connection is not None else None

    @property
    def is_chained(self) -> bool:
        """Whether the file has a chain: not so until a newer Rocky has written to it."""
        return (self.schema_version or 0) >= CHAINED_SINCE

    def is_as_opened(self) -> bool:
        """Whether the file still has the tables and indexes that were looked at on opening."""
        with translated(self.path, writing=False):
            return definitions_version(self._connection) == self._definitions

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _below(self, kind: type[R], table: str, first: str) -> tuple[R, ...]:
        with translated(self.path, writing=False):
            rows = rows_below(self._connection, table, first)
        return tuple(load_record(kind, self.path, table, *row) for row in rows)

    def _all(self, kind: type[R], table: str) -> tuple[R, ...]:
        rows = self._ask(f"SELECT key, value FROM {table} ORDER BY key")  # noqa: S608 - one of our own names
        return tuple(load_record(kind, self.path, table, *row) for row in rows)

    def _one(self, kind: type[R], table: str, key: str) -> R | None:
        rows = self._ask(f"SELECT key, value FROM {table} WHERE key = ?", key)  # noqa: S608 - one of our own names
        return load_record(kind, self.path, table, *rows[0]) if rows else None

    def _execution(self, key: str, value: Any) -> RecordedExecution:
        found = load_record(ModelExecution, self.path, "model_executions", key, value)
        return RecordedExecution(RunId(key.partition("|")[0]), found)

    def _newest_rows(
        self, models: Iterable[str], value: str = "value"
    ) -> list[tuple[str, str, str]]:
        """The newest execution of each model: its name as it was given, and the row.

        `value` is what is read of a row, as SQL.
        """
        wanted = {key_of(model.lower()): model for model in models}
        rows = self._ask(
            f"SELECT key, {value} FROM model_executions WHERE key IN (SELECT ("  # noqa: S608 - our own expressions
            f" SELECT max(key) FROM model_executions WHERE {MODEL_OF_KEY} = wanted.value)"
            " FROM json_each(?) AS wanted)",
            json.dumps(list(wanted)),
        )
        return [(wanted[key.partition("|")[2]], key, value) for key, value in rows]

    def _ask(self, sql: str, *values: object) -> list[Any]:
        with translated(self.path, writing=False):
            return self._connection.execute(sql, values).fetchall()

    def _stream(self, sql: str, *values: object) -> Generator[Any, None, None]:
        with translated(self.path, writing=False):
            yield from self._connection.execute(sql, values)


LATEST: Final = "latest"
_EVERYTHING: Final = -1


class LedgerTotals(NamedTuple):
    """How much a ledger holds."""

    runs: int
    executions: int
    artifacts: int


EMPTY_TOTALS: Final = LedgerTotals(0, 0, 0)


class HistoryReader(LedgerReader):
    """Answers from a ledger. For one thread; others open their own."""

    alive_elsewhere: frozenset[str] = frozenset()
    """Runs that are running on other machines: their locks cannot be seen from here."""

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
        found = (load_record(RunRecord, self.path, "run_history", *row) for row in rows)
        looked: dict[RunId, RunRecord | None] = {}
        return tuple(self._completed(each, looked) for each in found)

    def run(self, run_id: str) -> RunRecord | None:
        """One run; `latest` is the newest."""
        if run_id == LATEST:
            return next(iter(self.runs(limit=1)), None)
        found = self._one(RunRecord, "run_history", run_id)
        return self._completed(found, {}) if found is not None else None

    def run_ids(self, unchanged_since: str | None = None) -> tuple[RunId, ...]:
        """The ids of all runs, newest first, or of those that go by what one of them found."""
        rows = self._ask(
            "SELECT key FROM run_history WHERE ?1 IS NULL OR (key > ?1"
            " AND json_extract(value, '$.unchanged_since') = ?1) ORDER BY key DESC",
            unchanged_since,
        )
        return tuple(RunId(key) for (key,) in rows)

    def find_run(self, wanted: str) -> RunRecord | None:
        """One run, by what a person typed: `latest`, an id, or the beginning of one.

        Raises NothingSelected when several runs begin so.
        """
        if wanted == LATEST:
            return self.run(wanted)
        meant = run_meant(wanted, self.run_ids())
        return None if meant is None else self.run(meant)

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

    def totals(self) -> LedgerTotals:
        rows = self._ask(
            "SELECT (SELECT count(*) FROM run_history), (SELECT count(*) FROM model_executions),"
            " (SELECT count(*) FROM output_artifacts)"
        )
        return LedgerTotals(*rows[0])

    def _completed(self, run: RunRecord, looked: dict[RunId, RunRecord | None]) -> RunRecord:
        """A run that has not ended, with the models it has done, and dead if its process is.

        `looked` are runs that others go by, as far as they were read.
        """
        if run.status is not RunStatus.RUNNING:
            return self._with_models(run, looked)
        if run.run_id not in self.alive_elsewhere and not is_alive(self.path, run.run_id):
            # It may have ended in an orderly way since we read its record.
            run = self._one(RunRecord, "run_history", run.run_id) or run
            if run.status is not RunStatus.RUNNING:
                return self._with_models(run, looked)
            run = replace(run, status=RunStatus.FAILURE, reason=DIED)
        done = self._below(ModelExecution, "model_executions", run.run_id)
        in_order = sorted(done, key=lambda each: (each.started_at, each.model_name))
        return replace(run, models_executed=tuple(in_order))

    def _with_models(self, run: RunRecord, looked: dict[RunId, RunRecord | None]) -> RunRecord:
        """A run that has ended; one in which nothing had changed has the models of another."""
        since = run.unchanged_since
        if since is None or run.status is not RunStatus.SUCCESS:
            return run
        if since not in looked:
            looked[since] = self._one(RunRecord, "run_history", since)
        other = looked[since]
        if other is None:
            return run
        models = unchanged_executions(other, run.finished_at or run.started_at)
        return replace(run, models_executed=models)


open_history_reader = HistoryReader.open
