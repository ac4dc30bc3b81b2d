"""One Spark session for every test that asks Spark: starting a JVM takes seconds."""

import os
from collections.abc import Iterator

import pytest
from benchmarks.twenty_models import write_project
from pyspark.sql import SparkSession

from rocky.errors import SparkUnavailable
from rocky.spark.session import SMALL, open_session
from tests.spark.projects import build, errors_of

# Hundreds of tests fill a heap that is enough for one; each query is described for a page that
# nobody opens; and what one test had compiled is forgotten before another asks for the same.
OF_TESTS = {
    "spark.driver.memory": "2g",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.codegen.cache.maxEntries": "2000",
}


JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""A JVM of a test lives for seconds over a few rows: code that is compiled well, and collected
beside the work, never repays that."""


@pytest.fixture(scope="session", autouse=True)
def jvm_options(request: pytest.FixtureRequest) -> Iterator[None]:
    """Options of every JVM that a test starts; they count as the environment of its tables.

    Where no test asks Spark they would only change the environment of all tests that follow.
    """
    asks_spark = any(each.get_closest_marker("spark") for each in request.session.items)
    with pytest.MonkeyPatch.context() as patch:
        if asks_spark and "JDK_JAVA_OPTIONS" not in os.environ:
            patch.setenv("JDK_JAVA_OPTIONS", JVM)
        yield


@pytest.fixture(scope="session")
def spark(jvm_options) -> Iterator[SparkSession]:
    """A local session of one core: ANSI on, UTC, no UI."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rocky.spark.session.SMALL", {**SMALL, **OF_TESTS})
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
