"""Tables that Spark lists: those of its own catalogues, and those of a database behind JDBC.

A database is asked for its `information_schema`. The address and the options may hold a password:
they go to Spark, and no message shows them. Whether a table of a catalogue changed, nobody can say.
This loads pyspark, which a run that copies nothing must not: it is imported when it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from rocky.errors import RockyError, SourceUnreadable
from rocky.language.datatypes.types import STRING, StructField
from rocky.language.names import quote_name
from rocky.pipelines.replication.discovery import (
    DiscoveredTable,
    FailedSource,
    SourceListing,
    SourcePlace,
)
from rocky.project.configuration.config import DEFAULT_CATALOG
from rocky.project.secrets import hide_password, text_without_secrets, url_without_password
from rocky.run.engine.protocol import Engine
from rocky.spark.failures import SPARK_ERRORS

_DRIVERS: Final = {
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
}
_BACKTICKS: Final = frozenset({"mysql", "mariadb"})
_QUESTION: Final = (
    "SELECT table_schema AS schema_name, table_name AS table_name FROM information_schema.tables"
    " WHERE table_schema NOT IN"
    " ('information_schema', 'pg_catalog', 'mysql', 'performance_schema', 'sys')"
)
_MOST_ROWS: Final = 1_000_000
_COLUMNS: Final = (
    StructField("schema_name", STRING, nullable=True),
    StructField("table_name", STRING, nullable=True),
)


@dataclass(frozen=True, slots=True)
class JdbcTables:
    """The tables of a database. Views are tables too: whoever does not want them disables them."""

    url: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)
    open_engine: Callable[[], Engine]
    wanted: Callable[[str], bool]

    def discover(self, catalog: str | None) -> SourceListing:
        """All tables; `catalog` is a database other than the one the address names, if any."""
        rows = self._ask(self._question(catalog))
        schemas = sorted({schema for schema, _ in rows})
        found = [
            DiscoveredTable(
                catalog, schema, table, SourcePlace("jdbc", None, self.read_options(schema, table))
            )
            for schema, table in sorted(rows)
            if self.wanted(schema)
        ]
        return SourceListing("jdbc", tuple(found), (), tuple(schemas))

    @property
    def dialect(self) -> str:
        """What the address says the database is: `jdbc:postgresql:...`."""
        parts = self.url.split(":")
        return parts[1].lower() if len(parts) > 1 else ""

    def _question(self, catalog: str | None) -> str:
        if catalog is None:
            return _QUESTION
        escaped = catalog.replace("'", "''")
        return f"{_QUESTION} AND table_catalog = '{escaped}'"

    def _ask(self, question: str) -> list[tuple[str, str]]:
        engine = self.open_engine()
        view = f"rocky_tables_{uuid4().hex}"
        asked = DiscoveredTable(None, "information_schema", "tables", self._place(question))
        try:
            engine.views.bind_source(view, asked.declare(_COLUMNS))
            rows = engine.rows(engine.frame(f"TABLE {view}"), _MOST_ROWS)
        except SPARK_ERRORS as error:
            raise self._unreadable(engine.explain(error).message) from error
        except RockyError as error:
            raise self._unreadable(str(error)) from error
        finally:
            engine.views.unbind([view])
        return [(str(schema), str(table)) for schema, table in rows]

    def _unreadable(self, said: str) -> SourceUnreadable:
        message = f"the tables of `{url_without_password(self.url)}` cannot be listed: {said}"
        return SourceUnreadable(text_without_secrets(message, (self.url, *self.options.values())))

    def _place(self, question: str) -> SourcePlace:
        return SourcePlace("jdbc", None, {**self._reach(), "query": question})

    def read_options(self, schema: str, table: str) -> dict[str, str]:
        """The options by which Spark reads a table."""
        mark = "`" if self.dialect in _BACKTICKS else '"'
        quoted = (f"{mark}{name.replace(mark, mark * 2)}{mark}" for name in (schema, table))
        return {**self._reach(), "dbtable": ".".join(quoted)}

    def _reach(self) -> dict[str, str]:
        options = dict(self.options)
        driver = _DRIVERS.get(self.dialect)
        if driver is not None and "driver" not in {key.lower() for key in options}:
            options["driver"] = driver
        return {**options, "url": hide_password(self.url)}


_MOST_NAMES: Final = 1_000_000
"""More schemas or tables than any catalogue has: an answer is never cut short unnoticed."""


@dataclass(frozen=True, slots=True)
class SparkTables:
    """The tables of a catalogue. Those of schemas that are not `wanted` are not listed."""

    open_engine: Callable[[], Engine]
    wanted: Callable[[str], bool]
    options: dict[str, str] = field(default_factory=dict, repr=False)

    def discover(self, catalog: str | None) -> SourceListing:
        engine = self.open_engine()
        name = catalog or DEFAULT_CATALOG
        try:
            rows = _query_rows(engine, f"SHOW SCHEMAS IN {quote_name(name)}")
        except SPARK_ERRORS as error:
            said = engine.explain(error).message
            raise SourceUnreadable(f"catalog `{name}` cannot be listed: {said}") from error
        schemas = sorted(str(row[0]).replace("`", "") for row in rows)
        tables: list[DiscoveredTable] = []
        failed: list[FailedSource] = []
        for schema in filter(self.wanted, schemas):
            try:
                tables += self._list(engine, name, schema)
            except SPARK_ERRORS as error:
                said = engine.explain(error).message
                message = f"schema `{schema}` cannot be listed: {said}"
                failed.append(FailedSource(schema, None, message))
        return SourceListing("catalog", tuple(tables), tuple(failed), tuple(schemas))

    def _list(self, engine: Engine, catalog: str, schema: str) -> list[DiscoveredTable]:
        place = f"{quote_name(catalog)}.{quote_name(schema)}"
        # Of a row: namespace, name, whether it is a view of this session only.
        rows = _query_rows(engine, f"SHOW TABLES IN {place}")
        names = sorted(str(row[1]) for row in rows if not row[2])
        return [
            DiscoveredTable(
                catalog,
                schema,
                name,
                SourcePlace("table", f"{place}.{quote_name(name)}", self.options),
            )
            for name in names
        ]


def _query_rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    return engine.rows(engine.frame(sql), _MOST_NAMES)
