"""Tables of a database behind JDBC, listed by its `information_schema`, through Spark.

The address and the options may hold a password. They go to Spark and nowhere else: what looks like
a secret is kept as a value that shows itself only as it was written, or not at all.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from rocky.datatypes.types import STRING, StructField
from rocky.errors import RockyError, SourceUnreadable
from rocky.pipelines.replication.discovery import Discovered, FoundTable, Place
from rocky.project.variables import Substituted, written
from rocky.run.engine import Engine
from rocky.spark.failures import SPARK_ERRORS

HIDDEN: Final = "***"
_SECRET_KEY: Final = re.compile(
    r"password|passwd|secret|token|credential|accesskey|privatekey", re.IGNORECASE
)
_SECRET_IN_URL: Final = re.compile(
    r"(://[^/@\s:]*:)[^/@\s]+(?=@)|((?:password|passwd|secret|token)=)[^&;\s]*", re.IGNORECASE
)
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
            FoundTable(catalog, schema, table, Place("jdbc", None, self._read(schema, table)))
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

    def _read(self, schema: str, table: str) -> dict[str, str]:
        mark = "`" if self.dialect in _BACKTICKS else '"'
        quoted = (f"{mark}{name.replace(mark, mark * 2)}{mark}" for name in (schema, table))
        return {**self._reach(), "dbtable": ".".join(quoted)}

    def _reach(self) -> dict[str, str]:
        options = {key: conceal(key, value) for key, value in self.options.items()}
        driver = _DRIVERS.get(self.dialect)
        if driver is not None and "driver" not in {key.lower() for key in options}:
            options["driver"] = driver
        return {**options, "url": conceal_url(self.url)}


def conceal(key: str, value: str) -> str:
    """An option's value; what looks like a secret shows itself to nobody but Spark."""
    if isinstance(value, Substituted) or not _SECRET_KEY.search(key):
        return value
    return Substituted(value, HIDDEN)


def conceal_url(url: str) -> str:
    """An address; one with a password in it shows itself without."""
    if isinstance(url, Substituted) or hide_url(url) == url:
        return url
    return Substituted(url, hide_url(url))


def hide_url(url: str) -> str:
    """An address without its password, as people may see it."""
    shown = written(url)
    return _SECRET_IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", shown)


def hide_values(message: str, values: tuple[str, ...]) -> str:
    """A message without what came from variables, and without passwords."""
    for value in values:
        if isinstance(value, Substituted) and value:
            message = message.replace(str(value), value.written)
    return _SECRET_IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", message)
