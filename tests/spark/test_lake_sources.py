"""Tables of others as sources, on a Spark without their connectors."""

import json
from datetime import date

import deltalake
import pyarrow as pa
import pytest

from tests.spark.projects import build, errors_of, table_folder, write_files

pytestmark = pytest.mark.spark

SOURCE = """\
[[source]]
name = "raw.sales"
format = "{format}"
path = "lake/sales"
{options}columns = [
  {{ name = "id", type = "bigint", nullable = false }},
  {{ name = "land", type = "string" }},
  {{ name = "day", type = "date" }},
  {{ name = "price", type = "decimal(10,2)" }},
]
"""
FIRST = pa.table(
    {
        "id": [1, 2, 3],
        "price": pa.array([100, 250, None], pa.int64())
        .cast(pa.decimal128(21, 0))
        .cast(pa.decimal128(10, 2)),
        "land": ["DE", "a/b c=1", None],
        "day": pa.array([date(2024, 1, 1), date(2024, 1, 2), None], pa.date32()),
    }
)
MORE = FIRST.slice(0, 1).append_column("extra", pa.array(["new"]))


def project(root, kind="delta", options=""):
    return write_files(
        root,
        {
            "sources/raw.toml": SOURCE.format(format=kind, options=options),
            "models/copy.sql": "SELECT id, land, day, price FROM raw.sales\n",
        },
    )


def rows(root, name="copy"):
    table = deltalake.DeltaTable(str(table_folder(root, name))).to_pyarrow_table()
    return sorted(table.to_pylist(), key=lambda row: (row["id"], str(row["land"])))


def wanted(*tables):
    names = ("id", "land", "day", "price")
    picked = [{name: row[name] for name in names} for each in tables for row in each.to_pylist()]
    return sorted(picked, key=lambda row: (row["id"], str(row["land"])))


@pytest.mark.parametrize("parts", [[], ["land", "day"]], ids=["plain", "partitioned"])
def test_a_delta_table_of_another_writer_is_read_by_its_log(spark, tmp_path, parts):
    lake = str(tmp_path / "lake/sales")
    deltalake.write_deltalake(lake, FIRST, partition_by=parts or None)
    deltalake.write_deltalake(lake, MORE, mode="append", schema_mode="merge")
    deltalake.DeltaTable(lake).delete("id = 3")
    root = project(tmp_path)

    report = build(root, spark)

    assert {} == errors_of(report)
    assert wanted(FIRST.slice(0, 2), MORE) == rows(root)
    (pinned,) = report.outcomes[0].execution.inputs
    assert pinned.version.startswith("2 of ")


def test_a_partition_that_spark_would_misread_is_refused(spark, tmp_path):
    odd = FIRST.slice(0, 1).set_column(2, "land", pa.array(["é"]))
    deltalake.write_deltalake(str(tmp_path / "lake/sales"), odd, partition_by=["land"])
    root = project(tmp_path)

    error = errors_of(build(root, spark))["copy"]

    assert "Spark cannot tell the partition of `land=%C3%A9/part-" in error


def test_an_older_version_of_a_delta_table_can_be_asked_for(spark, tmp_path):
    lake = str(tmp_path / "lake/sales")
    deltalake.write_deltalake(lake, FIRST)
    deltalake.write_deltalake(lake, FIRST, mode="append")
    root = project(tmp_path, options="options = { versionAsOf = 0 }\n")

    report = build(root, spark)

    assert {} == errors_of(report)
    assert wanted(FIRST) == rows(root)


def test_what_only_deltas_connector_can_read_is_refused_with_what_to_configure(spark, tmp_path):
    lake = tmp_path / "lake/sales"
    deltalake.write_deltalake(str(lake), FIRST)
    log = lake / "_delta_log/00000000000000000001.json"
    feature = {"minReaderVersion": 3, "minWriterVersion": 7}
    names = ["typeWidening-preview"]
    log.write_text(
        json.dumps({"protocol": {**feature, "readerFeatures": names, "writerFeatures": names}})
    )
    root = project(tmp_path)

    error = errors_of(build(root, spark))["copy"]

    assert "source `raw.sales` (declared in `sources/raw.toml`) cannot be read" in error
    assert "typeWidening-preview" in error
    assert "io.delta:delta-spark_4.1_2.13" in error


def test_a_source_without_its_connector_says_what_to_configure(spark, tmp_path):
    (tmp_path / "lake/sales").mkdir(parents=True)
    root = project(tmp_path, kind="iceberg")

    error = errors_of(build(root, spark))["copy"]

    assert error.endswith(
        "this Spark has no connector for `iceberg`: name its package in `spark.jars.packages` in"
        " `[adapter.conf]`"
    )


def test_where_there_is_no_delta_table_it_is_said(spark, tmp_path):
    root = project(tmp_path)

    assert errors_of(build(root, spark))["copy"].endswith("there is no Delta table at `lake/sales`")
