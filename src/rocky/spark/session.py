"""A local Spark session that is quiet, small and only analyses.

The JVM is a child process that inherits standard output and standard error and keeps them:
whatever it prints would land in the middle of a JSON document. So it is started with both
pointed at a file, which is read only when Spark does not come up.
"""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Final

from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from rocky.catalog.functions import SPARK_VERSION
from rocky.errors import SparkUnavailable
from rocky.spark.java import check_java

SETTINGS: Final[Mapping[str, str]] = {
    # Rocky types as ANSI Spark does. It is the default, but a spark-defaults.conf may differ.
    "spark.sql.ansi.enabled": "true",
    # The zone decides nothing the analyser does, but two machines should print the same.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    # Nobody looks at the UI, and its port may be taken.
    "spark.ui.enabled": "false",
    # A laptop without network cannot resolve its own name.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    # Analysis makes no tasks; a few partitions keep the odd local job short.
    "spark.sql.shuffle.partitions": "1",
    # Deeply nested queries are legal, and the JVM's default stack is not made for them.
    "spark.driver.extraJavaOptions": "-Xss16m",
}


def start_session(master: str = "local[1]") -> SparkSession:
    """A local session with a JVM of its own. Raises SparkUnavailable."""
    check_java()
    scratch = tempfile.mkdtemp(prefix="rocky-spark-")
    builder = SparkSession.builder.master(master).appName("rocky")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder = builder.config("spark.sql.warehouse.dir", scratch)
    with tempfile.TemporaryFile("w+b") as log:
        try:
            with _streams_into(log):
                session = builder.getOrCreate()
                session.sparkContext.setLogLevel("ERROR")
        except (PySparkException, OSError, RuntimeError) as failure:
            raise SparkUnavailable(f"Spark would not start: {_reason(log, failure)}") from failure
    _check_version(session)
    # pyspark writes every refused query to standard error; a refusal is an answer to us.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return session


@contextmanager
def open_session() -> Iterator[SparkSession]:
    """A session that is stopped at the end. Raises SparkUnavailable."""
    session = start_session()
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def _streams_into(log: IO[bytes]) -> Iterator[None]:
    """Point the process's standard output and error at a file while a child is started."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(number) for number in (1, 2)]
    try:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
        yield
    finally:
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


def _reason(log: IO[bytes], failure: BaseException) -> str:
    """The last thing Spark said before it gave up."""
    log.seek(0)
    said = log.read().decode(errors="replace").strip().splitlines()
    told = [line for line in said if "Exception" in line or "rror" in line]
    return (told or said or [str(failure)])[-1].strip()


def _check_version(session: SparkSession) -> None:
    version = session.version
    if not version.startswith(f"{SPARK_VERSION}."):
        session.stop()
        home = os.environ.get("SPARK_HOME")
        hint = f" (SPARK_HOME is `{home}`)" if home else ""
        raise SparkUnavailable(
            f"Spark {version} was started{hint}, and Rocky speaks of Spark {SPARK_VERSION}:"
            f" install pyspark {SPARK_VERSION} and unset SPARK_HOME"
        )
