"""One Spark for every test that asks it, started when the first one does."""

import json
from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import SparkSession

Schema = list[tuple[str, str, bool]]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small local session, in ANSI mode as Spark 4 is by default."""
    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[1]")
        .appName("rocky tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.catalogImplementation", "in-memory")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def spark_schema(spark: SparkSession) -> Callable[[str], Schema]:
    """The (name, type, nullable) of each column, as Spark's analyser sees a query."""

    def ask(sql: str) -> Schema:
        found = spark._jsparkSession.sql(sql).schema()
        fields = json.loads(found.json())["fields"]
        return [
            (field["name"], found.fields()[at].dataType().catalogString(), field["nullable"])
            for at, field in enumerate(fields)
        ]

    return ask
