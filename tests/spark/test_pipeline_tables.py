"""Models over what pipelines copy, on Spark: types as Spark has them, and what a catalogue lists."""

import deltalake
import pytest

import rocky

pytestmark = pytest.mark.spark

LAKE = """
[adapter]

[pipeline.bronze]
type = "replication"
strategy = "full_refresh"
source = { path = "lake" }
target = { schema_template = "bronze_{schema}" }

[pipeline.history]
type = "snapshot"
unique_key = ["id"]
updated_at = "at"
source = { catalog = "spark_catalog", schema = "bronze_shop", table = "orders" }
target = { catalog = "spark_catalog", schema = "histories", table = "orders" }
"""
CATALOGUE = """
[adapter]

[pipeline.bronze]
type = "replication"
strategy = "full_refresh"

[pipeline.bronze.source.schema_pattern]
prefix = "graph_src_"
separator = "_"
components = ["name"]

[pipeline.bronze.target]
schema_template = "bronze_{name}"

[pipeline.bronze.classification]
"*.na*" = "pii"

[mask]
pii = "redact"
"""


def project(root, spark, config, **models):
    (root / "models").mkdir()
    (root / "rocky.toml").write_text(config)
    for name, sql in models.items():
        (root / f"models/{name}.sql").write_text(sql)
    return rocky.open(root, spark=spark)


def test_copies_and_histories_are_read_with_the_types_that_spark_finds(spark, tmp_path):
    spark.sql(
        "SELECT id, cast(id * 1.5 AS decimal(10,2)) AS amount,"
        " timestamp '2026-05-01 00:00:00' AS at FROM range(3)"
    ).write.parquet(f"{tmp_path}/lake/shop/orders")
    shop = project(
        tmp_path,
        spark,
        LAKE,
        totals="SELECT at, sum(amount) AS total FROM bronze_shop.orders GROUP BY at",
        versions="SELECT id, amount, valid_from, valid_to, is_current FROM histories.orders",
    )
    report = shop.run()
    verified = shop.compile(verify=True).verify

    assert ["bronze", "history", "models"] == [each.pipeline for each in report.pipelines]
    assert 0 == report.exit_code
    assert verified is not None
    assert (True, 7) == (verified.agrees, verified.columns)
    assert 3 == shop.table("versions").count()
    assert ["bit_exact"] * 2 == [each.verdict.value for each in shop.replay(execute=True).models]


def test_what_a_catalogue_lists_is_kept_types_the_copies_to_come_and_is_copied_masked(
    spark, tmp_path
):
    spark.sql("CREATE SCHEMA IF NOT EXISTS graph_src_crm")
    spark.sql(
        f"CREATE TABLE graph_src_crm.people USING parquet LOCATION '{tmp_path}/people'"
        " AS SELECT id, concat('n', id) AS name FROM range(2)"
    )
    shop = project(tmp_path, spark, CATALOGUE, m="SELECT id, name FROM bronze_crm.people")

    def types():
        return [each.type for each in shop.compile().models[0].columns]

    try:
        before = types()
        kept = shop.discover(pipeline="bronze", cache=True)
        known = types()
        report = shop.run()
    finally:
        spark.sql("DROP SCHEMA graph_src_crm CASCADE")

    assert ["unknown", "unknown"] == before
    assert [("undeclared", "spark")] == [(each.status, each.asked) for each in kept.sources]
    assert ["bigint", "string"] == known == types()
    assert 0 == report.exit_code
    stored = tmp_path / "warehouse/spark_catalog"
    for table in ("bronze_crm/people", "default/m"):
        names = deltalake.DeltaTable(stored / table).to_pyarrow_table()["name"].to_pylist()
        assert ["***", "***"] == names, table
