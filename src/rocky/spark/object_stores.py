"""Object stores: whether a Spark can reach the one that its tables are in.

Spark comes without a client for S3. Without this look, the first model would fail with the name of
a Java class. Through Connect nobody can look: the server's administrator has to know.
"""

from typing import Any, Final

from rocky.errors import AdapterUnusable
from rocky.spark.connections import is_classic

_SCHEMES: Final = ("s3", "s3a")
_CLIENT: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_PACKAGE: Final = "org.apache.hadoop:hadoop-aws"


def check_object_store(session: Any, warehouse: str) -> None:
    """Raise AdapterUnusable when a classic session has no client for the warehouse's place."""
    scheme, mark, _ = warehouse.partition("://")
    if not mark or scheme not in _SCHEMES or not is_classic(session):
        return
    jvm: Any = session.sparkContext._jvm  # noqa: SLF001 - nothing public tells which classes there are
    if jvm.org.apache.spark.util.Utils.classIsLoadable(_CLIENT):
        return
    version = jvm.org.apache.hadoop.util.VersionInfo.getVersion()
    raise AdapterUnusable(
        f'`warehouse = "{warehouse}"` needs Hadoop\'s client for S3, which this Spark has not:'
        f' add `"spark.jars.packages" = "{_PACKAGE}:{version}"` to `[adapter.conf]`'
    )
