"""Asking: views over the checked tables, bound when a question needs them, and single answers.

Spark is opened by the first question that needs it. When it cannot be opened, every question after
that has the same answer: the reason why.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from rocky.errors import RockyError
from rocky.pipelines.checks.tables import CheckedTable
from rocky.project.sources import SourceTable
from rocky.run.engine import Engine
from rocky.run.failures import CAUGHT, classify_step_failure
from rocky.run.literals import quote_name
from rocky.spark.source_files import hide_place
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table


class Asker:
    """Asks one engine about checked tables. Leaving it unbinds its views."""

    def __init__(self, open_engine: Callable[[], Engine] | None) -> None:
        self._open = open_engine
        self._engine: Engine | None = None
        self._refused: BaseException | None = None
        self._views: dict[tuple[str, str], str] = {}
        self._sources: list[SourceTable] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._engine is not None and self._views:
            self._engine.views.unbind(list(self._views.values()))

    def engine(self) -> Engine:
        """The engine. Raises what opening it raised, each time."""
        if self._refused is not None:
            raise self._refused
        if self._engine is None:
            try:
                self._engine = self._opened()
            except CAUGHT as refused:
                self._refused = refused
                raise
        return self._engine

    def target_view(self, table: CheckedTable) -> str:
        """A view over the table as the run left it."""
        return self.table_view(table.key, table.table, table.snapshot)

    def table_view(self, key: str, table: Table, snapshot: Snapshot) -> str:
        """A view over any table of the warehouse, by its key."""
        found = self._views.get(("target", key))
        if found is None:
            found = self._next_view()
            self.engine().views.bind_table(found, table, snapshot)
            self._views["target", key] = found
        return found

    def source_view(self, table: CheckedTable) -> str:
        """A view over what the table was copied from. Raises RockyError when it is no copy."""
        if table.source is None:
            raise RockyError(f"`{table.name}` is no copy: it has no source to compare with")
        found = self._views.get(("source", table.key))
        if found is None:
            # First: what goes wrong while it is bound may name a place that is a secret.
            self._sources.append(table.source.source)
            found = self._next_view()
            self.engine().views.bind_source(found, table.source.source, table.source.pin)
            self._views["source", table.key] = found
        return found

    def first_row(self, sql: str) -> tuple[Any, ...] | None:
        """The first row of a query's answer; None when there is none."""
        engine = self.engine()
        rows = engine.rows(engine.frame(sql), 1)
        return rows[0] if rows else None

    def count(self, view: str, where: str | None = None) -> int:
        """The rows of a view. Raises RockyError when Spark gives no number."""
        condition = f" WHERE (\n{where}\n)" if where else ""
        row = self.first_row(f"SELECT count(*) AS n FROM {quote_name(view)}{condition}")  # noqa: S608 - names are quoted
        if row is None or not isinstance(row[0], int):
            raise RockyError("Spark gave no count")
        return row[0]

    def explain(self, error: BaseException) -> str:
        """What an error means, in the words that a check shows."""
        explain = self._engine.explain if self._engine is not None else None
        failure = (
            classify_step_failure(error)
            if explain is None
            else classify_step_failure(error, explain)
        )
        message = failure.message
        for source in self._sources:
            message = hide_place(source, message)
        return message

    def _opened(self) -> Engine:
        if self._open is None:
            raise RockyError("this check needs Spark, and there is none here")
        return self._open()

    def _next_view(self) -> str:
        return f"rocky_check_{len(self._views)}"
