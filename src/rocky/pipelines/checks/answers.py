"""Answers about a checked table: from the statistics of its own log, or else from Spark.

The log's answer counts only when every file gives its part. So the checks of a table that nothing
has changed cost no job at all. Spark is opened by the first question that needs it. When it cannot
be opened, every question after that has the same answer: the reason why.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self

from rocky.analysis.disclosure import NO_SECRETS, Disclosure, Secrets
from rocky.errors import RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name
from rocky.pipelines.report import CheckedTable
from rocky.project.sources import SourceTable
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure, may_quote, unsaid
from rocky.run.engine.protocol import Engine
from rocky.spark.source_files import hide_location
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table

_MAPPING: Final = "delta.columnMapping.mode"
_MOMENTS: Final = frozenset({"timestamp", "timestamp_ntz", "date"})


def find_column(table: CheckedTable, name: str) -> StructField | None:
    """A table's column by name, as Spark compares names."""
    return next((each for each in table.columns if each.name.lower() == name.lower()), None)


def count_nulls(snapshot: Snapshot | None, column: StructField) -> int | None:
    """How many rows have no value in a column; None when no log, or not all of it, says."""
    if snapshot is None:
        return None
    total = 0
    for stats in _statistics(snapshot, column):
        found = stats.get("nullCount", {}).get(column.name) if stats else None
        if not isinstance(found, int):
            return None
        total += found
    return total


def newest_moment(snapshot: Snapshot | None, column: StructField) -> datetime | None:
    """The highest moment of a column, to the millisecond; None when not all of a log says."""
    if snapshot is None or column.type.kind not in _MOMENTS:
        return None
    newest: datetime | None = None
    for stats, rows in zip(_statistics(snapshot, column), _rows(snapshot), strict=True):
        if stats is None:
            return None
        if stats.get("nullCount", {}).get(column.name) == rows:
            continue
        moment = _moment(stats.get("maxValues", {}).get(column.name))
        if moment is None:
            return None
        newest = moment if newest is None else max(newest, moment)
    return newest


def _statistics(snapshot: Snapshot, column: StructField) -> Iterator[Mapping[str, Any] | None]:
    """The statistics of each file; None where they cannot be about this column."""
    # Statistics are by stored name, and leave out partition columns.
    unclear = (
        snapshot.configuration.get(_MAPPING, "none") != "none"
        or column.name in snapshot.partition_columns
    )
    for file in snapshot.files:
        stats = None if unclear else json.loads(file.stats)
        yield stats if isinstance(stats, dict) else None


def _rows(snapshot: Snapshot) -> Iterator[int]:
    return (file.rows for file in snapshot.files)


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # Sessions are held to UTC, so a time without a zone is one there.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


class TableQueries:
    """Asks one engine about checked tables. Leaving it unbinds its views.

    Answers are kept in the ledger: what `disclosure` hides is not told in them.
    """

    def __init__(
        self, open_engine: Callable[[], Engine] | None, disclosure: Disclosure | None = None
    ) -> None:
        self._disclosure = disclosure
        self._secrets: Secrets = NO_SECRETS
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
            except STEP_ERRORS as refused:
                self._refused = refused
                raise
        return self._engine

    def target_view(self, table: CheckedTable) -> str:
        """A view over the table as the run left it, or over one that is not of the warehouse."""
        if table.live is not None:
            return self.foreign_view(table.live.source)
        return self.table_view(table.key, *table.stored)

    def foreign_view(self, source: SourceTable) -> str:
        """A view over a source, or a table of Spark's, as it is when first asked for."""
        found = self._views.get(("foreign", source.key))
        if found is None:
            # First: what goes wrong while it is bound may name a place that is a secret.
            self._sources.append(source)
            self._note(source.name, source.columns)
            found = self._next_view()
            self.engine().views.bind_source(found, source.as_read())
            self._views["foreign", source.key] = found
        return found

    def table_view(self, key: str, table: Table, snapshot: Snapshot) -> str:
        """A view over any table of the warehouse, by its key."""
        found = self._views.get(("target", key))
        if found is None:
            self._note(table.name, snapshot.schema)
            found = self._next_view()
            self.engine().views.bind_table(found, table, snapshot)
            self._views["target", key] = found
        return found

    def source_view(self, table: CheckedTable) -> str:
        """A view over what the table was copied from. Raises RockyError when it is no copy."""
        if table.source is None:
            raise RockyError(f"`{table.name}` is not a copy: it has no source to compare with")
        found = self._views.get(("source", table.key))
        if found is None:
            # First: what goes wrong while it is bound may name a place that is a secret.
            self._sources.append(table.source.source)
            self._note(table.source.source.name, table.source.source.columns)
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
        if self._secrets and may_quote(failure):
            message = unsaid(failure, self._secrets)
        for source in self._sources:
            message = hide_location(source, message)
        return message

    def secrets_of(self, table: CheckedTable, column: str) -> Secrets:
        """What is hidden in a column of a table; of one that it has not, in any of its columns."""
        if self._disclosure is None:
            return NO_SECRETS
        if find_column(table, column) is not None:
            return self._disclosure.in_stored(table.name, [column])[0]
        names = [each.name for each in table.columns]
        return tuple(one for each in self._disclosure.in_stored(table.name, names) for one in each)

    def _note(self, name: str, columns: Iterable[StructField]) -> None:
        """Remember what is hidden in a table that a failure may tell of."""
        if self._disclosure is not None:
            for each in self._disclosure.in_stored(name, [column.name for column in columns]):
                self._secrets += each

    def _opened(self) -> Engine:
        if self._open is None:
            raise RockyError("this check needs Spark, and there is none here")
        return self._open()

    def _next_view(self) -> str:
        return f"rocky_check_{len(self._views)}"
