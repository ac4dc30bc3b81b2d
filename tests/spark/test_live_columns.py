"""What a live source has, as Spark finds it; and the tables of Spark's own catalogue."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.errors import SourceUnreadable
from rocky.pipelines.replication.discovery import DiscoveredTable, SourcePlace
from rocky.pipelines.replication.spark_discovery import SparkTables
from rocky.run.engine.spark import SparkEngine
from rocky.spark.connection import adopt_session
from rocky.spark.reader import describe_source

pytestmark = pytest.mark.spark


def described(spark, root: Path, form: str, **options: str) -> list[str]:
    found = DiscoveredTable(None, "s", "t", SourcePlace(form, "t", options))
    return [f"{each.name} {each.type}" for each in describe_source(spark, found.declare(), root)]


def put(root: Path, name: str, columns) -> None:
    (root / "t").mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), root / "t" / name)


def test_columns_of_text_files_are_inferred(spark, tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t/a.csv").write_text("id;at\n1;2026-01-01 10:00:00\n")

    assert ["id int", "at timestamp"] == described(spark, tmp_path, "csv", delimiter=";")
    assert ["_c0 string", "_c1 string"] == described(
        spark, tmp_path, "csv", delimiter=";", header="false"
    )


def test_columns_of_all_parquet_files_count_and_the_widest_type_wins(spark, tmp_path):
    put(tmp_path, "1.parquet", {"id": pa.array([1], pa.int32()), "old": ["x"]})
    put(tmp_path, "2.parquet", {"id": pa.array([2**40], pa.int64()), "new": [1.5]})
    columns = described(spark, tmp_path, "parquet")
    found = DiscoveredTable(None, "s", "t", SourcePlace("parquet", "t"))
    source = found.declare(describe_source(spark, found.declare(), tmp_path))
    engine = SparkEngine(adopt_session(spark), tmp_path)
    engine.views.bind_source("live_widened", source)

    assert ["id bigint", "old string", "new double"] == columns
    # And so they are read.
    rows = engine.rows(engine.frame("SELECT * FROM live_widened ORDER BY id"), 5)
    assert [(1, "x", None), (2**40, None, 1.5)] == rows


def test_files_that_contradict_each_other_are_unreadable(spark, tmp_path):
    put(tmp_path, "1.parquet", {"id": [1]})
    put(tmp_path, "2.parquet", {"id": ["x"]})

    with pytest.raises(SourceUnreadable, match="its files disagree about column `id`"):
        described(spark, tmp_path, "parquet")


def test_a_table_that_is_not_there_is_unreadable(spark, tmp_path):
    with pytest.raises(SourceUnreadable, match="cannot be read"):
        described(spark, tmp_path, "table")


def test_tables_of_sparks_catalogue_are_found_and_views_of_a_session_are_not(spark, tmp_path):
    engine = SparkEngine(adopt_session(spark), tmp_path)
    spark.sql("CREATE SCHEMA src__acme")
    spark.sql(f"CREATE TABLE src__acme.orders USING parquet LOCATION '{tmp_path}/o' AS SELECT 1 id")
    spark.sql("CREATE TEMPORARY VIEW passing AS SELECT 1 AS one")
    try:
        tables = SparkTables(lambda: engine, lambda schema: schema.startswith("src"))
        found = tables.discover(None)
        (orders,) = found.tables
        columns = engine.describe(orders.declare())
    finally:
        spark.sql("DROP SCHEMA src__acme CASCADE")
        spark.sql("DROP VIEW passing")

    assert "spark_catalog.src__acme.orders" == orders.name
    assert ["id int"] == [f"{each.name} {each.type}" for each in columns]
    assert ("default", "src__acme") == found.schemas
    with pytest.raises(SourceUnreadable, match="catalog `nowhere` cannot be listed"):
        tables.discover("nowhere")
