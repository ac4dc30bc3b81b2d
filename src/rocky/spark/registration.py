"""Registration: tables made known to Spark's catalogue, as tables of Delta's own connector.

Rocky itself never needs it: it reads and writes tables by their place. How long a registration
lasts is the catalogue's affair; that of a local Spark without a metastore ends with the session.
"""

from typing import Any, Final
from urllib.parse import unquote

from rocky.errors import AdapterUnusable
from rocky.spark.failures import SPARK_ERRORS, classify_failure

PACKAGE: Final = "io.delta:delta-spark_4.1_2.13:4.4.0"
_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOGUE: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_SETTINGS: Final = {
    "spark.jars.packages": PACKAGE,
    "spark.sql.extensions": _EXTENSION,
    "spark.sql.catalog.spark_catalog": _CATALOGUE,
}
CONNECTOR_HELP: Final = "configure Delta's connector in `[adapter.conf]`: " + ", ".join(
    f'`"{name}" = "{value}"`' for name, value in _SETTINGS.items()
)


def has_connector(session: Any) -> bool:
    """Whether Delta's own connector is part of a session."""
    return _EXTENSION in (session.conf.get("spark.sql.extensions", None) or "")


def open_catalogue(session: Any) -> None:
    """Make a session of ours ready to register tables. Raises AdapterUnusable when it cannot."""
    catalogue = session.conf.get("spark.sql.catalog.spark_catalog", None) or ""
    if not has_connector(session) or catalogue in ("", "builtin"):
        raise AdapterUnusable(f"`register = true` needs Delta's connector: {CONNECTOR_HELP}")
    # The connector replays a log in fifty tasks, however short it is; ours have checkpoints.
    session.conf.set("spark.databricks.delta.snapshotPartitions", "2")


def register_table(session: Any, name: tuple[str, str, str], uri: str) -> None:
    """Make the table at `uri` known by its name. Raises AdapterUnusable when another has it."""
    catalog, schema, table = (f"`{part.replace('`', '``')}`" for part in name)
    full = f"{catalog}.{schema}.{table}"
    shown = ".".join(name)
    place = uri.replace("\\", "\\\\").replace("'", "\\'")
    try:
        if not session.catalog.tableExists(full):
            session.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog}.{schema}")
            session.sql(f"CREATE TABLE IF NOT EXISTS {full} USING DELTA LOCATION '{place}'")
        described = session.sql(f"DESCRIBE EXTENDED {full}").where("col_name = 'Location'")
        found = [str(row[1]) for row in described.collect()]
    except SPARK_ERRORS as error:
        raise AdapterUnusable(
            f"`{shown}` is built and could not be registered in Spark's catalogue:"
            f" {classify_failure(error).message}"
        ) from error
    if [_path(each) for each in found] != [_path(uri)]:
        raise AdapterUnusable(
            f"`{shown}` in Spark's catalogue is another table, at `{''.join(found)}`:"
            " drop it there, or leave out `register = true`"
        )


def _path(uri: str) -> str:
    """A place without the ways to write one: `file:/a` and `file:///a` are the same."""
    scheme, _, rest = unquote(uri).partition(":")
    return f"{scheme}:{rest.strip('/')}"
