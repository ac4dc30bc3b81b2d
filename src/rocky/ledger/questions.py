"""Questions: what every reader of a ledger shares, a connection and rows turned into records."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from rocky.ledger.database import translated
from rocky.ledger.record import Record, RunId
from rocky.ledger.records import ModelExecution
from rocky.ledger.rows import key_of, load_record, rows_below
from rocky.ledger.schema import CHAINED_SINCE, MODEL_OF_KEY, stored_version

R = TypeVar("R", bound=Record)


class RecordedExecution(NamedTuple):
    """A model's execution and the run it belongs to."""

    run_id: RunId
    execution: ModelExecution


class Questions:
    """Asks a ledger. For one thread; others open their own."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        with translated(path, writing=False):
            self.schema_version = stored_version(connection)

    @property
    def is_chained(self) -> bool:
        """Whether the file has a chain: not so until a newer Rocky has written to it."""
        return (self.schema_version or 0) >= CHAINED_SINCE

    def close(self) -> None:
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

    def _below(self, kind: type[R], table: str, first: str) -> tuple[R, ...]:
        with translated(self.path, writing=False):
            rows = rows_below(self._connection, table, first)
        return tuple(load_record(kind, self.path, table, key, value) for key, value in rows)

    def _execution(self, key: str, value: Any) -> RecordedExecution:
        return RecordedExecution(
            RunId(key.partition("|")[0]),
            load_record(ModelExecution, self.path, "model_executions", key, value),
        )

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

    def _stream(self, sql: str) -> Iterator[Any]:
        with translated(self.path, writing=False):
            yield from self._connection.execute(sql)
