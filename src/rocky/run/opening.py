"""Spark as an engine, opened from `[adapter]`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rocky.project.adapter import Adapter
from rocky.run.spark_engine import SparkEngine
from rocky.spark.connections import adopt_session
from rocky.spark.function_mode import function_mode
from rocky.spark.object_stores import check_object_store
from rocky.spark.registration import open_catalogue
from rocky.spark.session import connect_spark


@contextmanager
def open_project_engine(adapter: Adapter, root: Path, spark: Any = None) -> Iterator[SparkEngine]:
    """Spark as `[adapter]` asks for it, or the caller's session, which is left as it was."""
    connection = (
        connect_spark(adapter, root) if spark is None else adopt_session(spark, adapter.conf)
    )
    try:
        if adapter.register:
            open_catalogue(connection.session)
        check_object_store(connection.session, adapter.warehouse)
        with function_mode(connect=connection.kind == "connect"):
            yield SparkEngine(connection, root, adapter.conf)
    finally:
        connection.close()
