"""Tables of a database behind JDBC, listed by its `information_schema`, through Spark.

The address and the options may hold a password: they go to Spark, and no message shows them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from rocky.datatypes.types import STRING, StructField
from rocky.errors import RockyError, SourceUnreadable
from rocky.pipelines.replication.concealing import conceal_url, hide_url, hide_values
from rocky.pipelines.replication.discovery import Discovered, FoundTable, Place
from rocky.run.engine import Engine
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
_MOST: Final = 1_000_000
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

    def discover(self, catalog: str | None) -> Discovered:
        """All tables; `catalog` is a database other than the one the address names, if any."""
        rows = self._ask(self._question(catalog))
        schemas = sorted({schema for schema, _ in rows})
        found = [
            FoundTable(
                catalog, schema, table, Place("jdbc", None, self.read_options(schema, table))
            )
            for schema, table in sorted(rows)
            if self.wanted(schema)
        ]
        return Discovered("jdbc", tuple(found), (), tuple(schemas))

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
        asked = FoundTable(None, "information_schema", "tables", self._place(question))
        try:
            engine.views.bind_source(view, asked.declare(_COLUMNS))
            rows = engine.rows(engine.frame(f"TABLE {view}"), _MOST)
        except SPARK_ERRORS as error:
            raise self._unreadable(engine.explain(error).message) from error
        except RockyError as error:
            raise self._unreadable(str(error)) from error
        finally:
            engine.views.unbind([view])
        return [(str(schema), str(table)) for schema, table in rows]

    def _unreadable(self, said: str) -> SourceUnreadable:
        message = f"the tables of `{hide_url(self.url)}` cannot be listed: {said}"
        return SourceUnreadable(hide_values(message, (self.url, *self.options.values())))

    def _place(self, question: str) -> Place:
        return Place("jdbc", None, {**self._reach(), "query": question})

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
        return {**options, "url": conceal_url(self.url)}
