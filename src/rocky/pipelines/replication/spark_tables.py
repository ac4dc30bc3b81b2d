"""Tables of Spark's own catalogues, listed by Spark. Whether they changed, it cannot say."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from rocky.errors import SourceUnreadable
from rocky.pipelines.replication.discovery import Discovered, FailedSource, FoundTable, Place
from rocky.project.patterns import DEFAULT_CATALOG
from rocky.run.engine import Engine
from rocky.run.literals import quote_name
from rocky.spark.failures import SPARK_ERRORS

_MOST: Final = 1_000_000
"""More schemas or tables than any catalogue has: an answer is never cut short unnoticed."""


@dataclass(frozen=True, slots=True)
class SparkTables:
    """The tables of a catalogue. Those of schemas that are not `wanted` are not listed."""

    open_engine: Callable[[], Engine]
    wanted: Callable[[str], bool]
    options: dict[str, str] = field(default_factory=dict, repr=False)

    def discover(self, catalog: str | None) -> Discovered:
        engine = self.open_engine()
        name = catalog or DEFAULT_CATALOG
        try:
            rows = _ask(engine, f"SHOW SCHEMAS IN {quote_name(name)}")
        except SPARK_ERRORS as error:
            said = engine.explain(error).message
            raise SourceUnreadable(f"catalog `{name}` cannot be listed: {said}") from error
        schemas = sorted(str(row[0]).replace("`", "") for row in rows)
        tables: list[FoundTable] = []
        failed: list[FailedSource] = []
        for schema in filter(self.wanted, schemas):
            try:
                tables += self._list(engine, name, schema)
            except SPARK_ERRORS as error:
                said = engine.explain(error).message
                message = f"schema `{schema}` cannot be listed: {said}"
                failed.append(FailedSource(schema, None, message))
        return Discovered("catalog", tuple(tables), tuple(failed), tuple(schemas))

    def _list(self, engine: Engine, catalog: str, schema: str) -> list[FoundTable]:
        place = f"{quote_name(catalog)}.{quote_name(schema)}"
        # Of a row: namespace, name, whether it is a view of this session only.
        rows = _ask(engine, f"SHOW TABLES IN {place}")
        names = sorted(str(row[1]) for row in rows if not row[2])
        return [
            FoundTable(
                catalog, schema, name, Place("table", f"{place}.{quote_name(name)}", self.options)
            )
            for name in names
        ]


def _ask(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    return engine.rows(engine.frame(sql), _MOST)
