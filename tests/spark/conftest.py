"""One Spark session for every test that asks Spark: starting a JVM takes seconds."""

from collections.abc import Iterator

import pytest
from benchmarks.twenty_models import write_project
from pyspark.sql import SparkSession

from rocky.errors import SparkUnavailable
from rocky.spark.session import open_session
from tests.spark.projects import build, errors_of


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session of one core: ANSI on, UTC, no UI."""
    try:
        with open_session() as session:
            yield session
    except SparkUnavailable as missing:
        pytest.fail(f"the spark tests need a working Spark: {missing}")


@pytest.fixture(scope="session")
def twenty(tmp_path_factory, spark):
    """The project of twenty models and the report of its run: built once, not to be changed."""
    root = write_project(tmp_path_factory.mktemp("twenty") / "project", orders=300)
    report = build(root, spark)
    assert {} == errors_of(report)
    return root, report
