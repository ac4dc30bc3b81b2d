"""What a Spark has beside itself: Delta's own connector, and a client for object stores.

Rocky reads and writes tables by their location and needs Delta's connector only to register them
in Spark's catalogue. How long a registration lasts is the catalogue's affair; that of a local
Spark without a metastore ends with the session. For S3 Spark needs a client that it comes without:
without the look here, the first model would fail with the name of a Java class. Through Connect
nobody can look: the server's administrator has to know.
"""

from typing import Any, Final
from urllib.parse import unquote

from rocky.errors import AdapterUnusable
from rocky.language.names import quote_name, quote_text
from rocky.spark.connection import is_classic
from rocky.spark.failures import SPARK_ERRORS, classify_failure

DELTA_PACKAGE: Final = "io.delta:delta-spark_4.1_2.13:4.4.0"
_EXTENSION: Final = "io.delta.sql.DeltaSparkSessionExtension"
_CATALOGUE: Final = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_SETTINGS: Final = {
    "spark.jars.packages": DELTA_PACKAGE,
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
    catalog, schema, table = map(quote_name, name)
    full = f"{catalog}.{schema}.{table}"
    shown = ".".join(name)
    try:
        if not session.catalog.tableExists(full):
            session.sql(f"CREATE SCHEMA IF NOT EXISTS {catalog}.{schema}")
            session.sql(f"CREATE TABLE IF NOT EXISTS {full} USING DELTA LOCATION {quote_text(uri)}")
        described = session.sql(f"DESCRIBE EXTENDED {full}").where("col_name = 'Location'")
        found = [str(row[1]) for row in described.collect()]
    except SPARK_ERRORS as error:
        raise AdapterUnusable(
            f"`{shown}` is built and could not be registered in Spark's catalogue:"
            f" {classify_failure(error).message}"
        ) from error
    if [_plain_path(each) for each in found] != [_plain_path(uri)]:
        raise AdapterUnusable(
            f"`{shown}` in Spark's catalogue is another table, at `{''.join(found)}`:"
            " drop it there, or leave out `register = true`"
        )


def _plain_path(uri: str) -> str:
    """A place without the ways to write one: `file:/a` and `file:///a` are the same."""
    scheme, _, rest = unquote(uri).partition(":")
    return f"{scheme}:{rest.strip('/')}"


_S3_SCHEMES: Final = ("s3", "s3a")
_S3_CLIENT: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_S3_PACKAGE: Final = "org.apache.hadoop:hadoop-aws"


def check_object_store(session: Any, warehouse: str) -> None:
    """Raise AdapterUnusable when a classic session has no client for the warehouse's place."""
    scheme, mark, _ = warehouse.partition("://")
    if not mark or scheme not in _S3_SCHEMES or not is_classic(session):
        return
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001 - nothing public tells which classes there are
    if jvm.org.apache.spark.util.Utils.classIsLoadable(_S3_CLIENT):
        return
    version = jvm.org.apache.hadoop.util.VersionInfo.getVersion()
    raise AdapterUnusable(
        f'`warehouse = "{warehouse}"` needs Hadoop\'s client for S3, which this Spark lacks:'
        f' add `"spark.jars.packages" = "{_S3_PACKAGE}:{version}"` to `[adapter.conf]`'
    )
