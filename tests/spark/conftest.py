"""One Spark session for every test that asks Spark: starting a JVM takes seconds."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rocky.errors import SparkUnavailable
from rocky.spark.session import start_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session of one core: ANSI on, UTC, no UI."""
    try:
        session = start_session()
    except SparkUnavailable as missing:
        pytest.fail(f"the spark tests need a working Spark: {missing}")
    yield session
    session.stop()
