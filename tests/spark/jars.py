"""Packages from Maven Central that some tests need: fetched only when somebody asks for it.

A test that needs them is skipped where they are not in Ivy's cache already, unless the variable
`ROCKY_FETCH_JARS` is set: then Spark fetches them when it starts.
"""

import os
from pathlib import Path

import pytest

from rocky.spark.session import DELTA_PACKAGE as DELTA

# Hadoop's client for S3 brings all of Amazon's SDK, 640 MB; these parts of it are enough.
HADOOP_AWS = "org.apache.hadoop:hadoop-aws:3.4.2"
SDK = "2.29.52"
S3 = ",".join(
    [
        HADOOP_AWS,
        *(
            f"software.amazon.awssdk:{part}:{SDK}"
            for part in ("s3-transfer-manager", "sts", "apache-client")
        ),
    ]
)
S3_EXCLUDED = "software.amazon.awssdk:bundle"
POSTGRES = "org.postgresql:postgresql:42.7.7"
POSTGRES_JAR = Path("/usr/share/java/postgresql.jar")
"""Where Debian's `libpostgresql-jdbc-java` has the driver."""
SWITCH = "ROCKY_FETCH_JARS"


def require_packages(*packages: str) -> None:
    """Skip the test when packages would have to be fetched and nobody asked for it."""
    if os.environ.get(SWITCH):
        return
    missing = [package for package in packages if not _jar(package).is_file()]
    if missing:
        pytest.skip(f"set {SWITCH}=1 to fetch {', '.join(missing)} from Maven Central")


def postgres_driver() -> str:
    """The setting that gives Spark PostgreSQL's driver; the test is skipped where there is none."""
    if POSTGRES_JAR.is_file():
        return f'"spark.jars" = "{POSTGRES_JAR}"'
    require_packages(POSTGRES)
    return f'"spark.jars.packages" = "{POSTGRES}"'


def _jar(package: str) -> Path:
    """Where Spark keeps a package that it has fetched."""
    return (
        Path.home() / ".ivy2.5.2" / "jars" / f"{package.replace(':', '_', 1).replace(':', '-')}.jar"
    )


__all__ = ["DELTA", "HADOOP_AWS", "S3", "S3_EXCLUDED", "postgres_driver", "require_packages"]
