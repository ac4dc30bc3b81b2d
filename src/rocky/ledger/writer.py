"""The ledger as a run writes it: what happened, committed before anybody is told.

A run is recorded as `Running` before it does anything, and each model in one transaction of its
own; so a killed run leaves all that it had finished, and the next run says of it that it died.
"""

import os
import platform
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self

from rocky.errors import InternalError, LedgerUnwritable
from rocky.ledger.claims import Claim, HeldClaim, hold_claim, is_alive, refuse_claimed
from rocky.ledger.database import (
    WRITER_PATIENCE_SECONDS,
    connect_writer,
    describe_file,
    transaction,
    translated,
)
from rocky.ledger.encoding import format_json, format_time
from rocky.ledger.reader import Reader, open_reader
from rocky.ledger.records import (
    DIED,
    ArtifactRecord,
    BudgetBreach,
    EngineRecord,
    ModelExecution,
    PartitionRecord,
    Record,
    RunId,
    RunRecord,
    RunStatus,
    TableProgress,
    TotalsRecord,
    WatermarkState,
)
from rocky.ledger.rows import in_order, key_of, load_json, rows_below, run_id_at
from rocky.ledger.schema import RUNNING

_MILLISECOND: Final = timedelta(milliseconds=1)


def open_ledger(path: Path, patience: float = WRITER_PATIENCE_SECONDS) -> "Ledger":
    """The ledger at a path, made if absent. `patience` is how long to wait for other writers.

    Raises LedgerUnreadable, LedgerUnwritable, LedgerLocked.
    """
    connection = connect_writer(path, patience)
    # Absolute: the process may change its folder while the run goes on.
    return Ledger(path.absolute(), connection)


class Ledger:
    """One writer of a ledger; threads may share it, and processes have one each."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._file = describe_file(path)
        self._lock = Lock()
        self._claims: dict[RunId, HeldClaim] = {}

    def begin_run(self, record: RunRecord, targets: Sequence[str] = ()) -> RunId:
        """Record a run as Running and claim the tables, by full name, that it will write.

        Runs that died are first recorded as such. Raises LedgerLocked when a living run writes one
        of the tables.
        """
        with self._transaction():
            for run_id, document in self._dead_runs():
                self._end(run_id, document, {"status": RunStatus.FAILURE.value, "reason": DIED})
        held: HeldClaim | None = None
        try:
            with self._transaction():
                refuse_claimed(self.path, targets)
                run_id = self._free_run_id(record.started_at)
                begun = replace(record, run_id=run_id, status=RunStatus.RUNNING)
                claim = Claim(
                    run_id, os.getpid(), platform.node(), record.started_at, tuple(targets)
                )
                held = hold_claim(self.path, claim)
                self._put("run_history", run_id, begun)
        except BaseException:
            if held is not None:
                held.release()
            raise
        self._claims[run_id] = held
        return run_id

    def record_engine(self, run_id: RunId, engine: EngineRecord) -> None:
        """Add what is known of the engine once it has started."""
        with self._transaction():
            document = self._run_document(run_id)
            document["engine"] = engine.to_json()
            self._put_json("run_history", run_id, document)

    def record_model(
        self,
        run_id: RunId,
        execution: ModelExecution,
        artifacts: Sequence[ArtifactRecord] = (),
        partitions: Sequence[PartitionRecord] = (),
        watermark: WatermarkState | None = None,
    ) -> None:
        """All there is to say of one model in a run, in one transaction."""
        with self._transaction():
            name = execution.model_name
            self._put("model_executions", key_of(run_id, name.lower()), execution)
            for artifact in artifacts:
                self._put("output_artifacts", key_of(run_id, name, artifact.file_path), artifact)
            for partition in partitions:
                key = key_of(partition.model_name.lower(), partition.partition_key)
                self._put("partitions", key, partition)
            if watermark is not None:
                self._put("watermarks", key_of(watermark.table.lower()), watermark)

    def record_progress(self, run_id: RunId, progress: TableProgress) -> None:
        """That a table of a running run is done with, one way or another."""
        with self._transaction():
            self._put("run_progress", key_of(run_id, progress.table_key), progress)

    def finish_run(
        self,
        run_id: RunId,
        status: RunStatus,
        finished_at: datetime,
        *,
        reason: str | None = None,
        totals: TotalsRecord | None = None,
        budget_breaches: Sequence[BudgetBreach] = (),
    ) -> RunRecord:
        """End a run: its record gets its models, its claim is given up. The record as it stands."""
        changes: dict[str, Any] = {
            "status": status.value,
            "finished_at": format_time(finished_at),
            "reason": reason,
            "totals": totals.to_json() if totals is not None else None,
            "budget_breaches": [each.to_json() for each in budget_breaches] or None,
        }
        with self._transaction():
            document = self._end(run_id, self._run_document(run_id), changes)
        held = self._claims.pop(run_id, None)
        if held is not None:
            held.release()
        return RunRecord.from_json(document)

    def reader(self) -> Reader:
        """A reader of the same file, with a connection of its own."""
        reader = open_reader(self.path)
        if reader is None:
            raise self._lost()
        return reader

    def close(self) -> None:
        """Give up the file. A run that was begun and not finished is a run that died."""
        for held in self._claims.values():
            held.release()
        self._claims.clear()
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, translated(self.path, writing=True), transaction(self._connection):
            # SQLite writes on into a file that was deleted or replaced, and nobody would read it.
            if describe_file(self.path) != self._file:
                raise self._lost()
            yield

    def _lost(self) -> LedgerUnwritable:
        return LedgerUnwritable(
            f"the state file `{self.path}` was deleted or replaced while it was in use;"
            " put it back and run again"
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

    def _dead_runs(self) -> list[tuple[RunId, dict[str, Any]]]:
        rows = self._connection.execute(
            f"SELECT key, value FROM run_history WHERE {RUNNING}"  # noqa: S608 - one of our own expressions
        )
        return [
            (RunId(key), load_json(self.path, "run_history", key, value))
            for key, value in rows.fetchall()
            if not is_alive(self.path, key)
        ]

    def _run_document(self, run_id: RunId) -> dict[str, Any]:
        row = self._connection.execute(
            "SELECT value FROM run_history WHERE key = ?", (run_id,)
        ).fetchone()
        if row is None:
            raise InternalError(f"no run `{run_id}` was begun")
        return load_json(self.path, "run_history", run_id, row[0])

    def _end(
        self, run_id: RunId, document: dict[str, Any], changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Write a run's last word. Keys that a newer Rocky may have added are kept."""
        rows = rows_below(self._connection, "model_executions", run_id)
        executions = [load_json(self.path, "model_executions", key, value) for key, value in rows]
        merged = {**document, "models_executed": in_order(executions), **changes}
        ended = {key: value for key, value in merged.items() if value is not None}
        self._put_json("run_history", run_id, ended)
        return ended

    def _put(self, table: str, key: str, record: Record) -> None:
        self._put_json(table, key, record.to_json())

    def _put_json(self, table: str, key: str, document: Mapping[str, Any]) -> None:
        self._connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES (?, ?)",  # noqa: S608 - one of our own names
            (key, format_json(document)),
        )
