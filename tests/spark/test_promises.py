"""Contracts over what nobody has declared: Spark's types keep the promises, or nothing is written."""

import pyarrow as pa
import pytest

import rocky
from tests.spark.projects import table_folder, write_files, write_rows

pytestmark = pytest.mark.spark

CONFIG = '[adapter]\n\n[compile]\nundeclared = "unknown"\n'
SOURCE = '[[source]]\nname = "raw.orders"\nformat = "parquet"\npath = "data"\n'
PROMISED = (
    '[[columns]]\nname = "id"\ntype = "bigint"\n[[columns]]\nname = "amount"\ntype = "double"\n'
)


@pytest.mark.parametrize("query", ["SELECT id, amount FROM raw.orders", "SELECT * FROM raw.orders"])
def test_a_type_that_only_spark_knows_is_held_to_the_contract(tmp_path, spark, query):
    files = {
        "rocky.toml": CONFIG,
        "sources/raw.toml": SOURCE,
        "models/orders.sql": query,
        "models/orders.contract.toml": PROMISED,
    }
    project = rocky.open(write_files(tmp_path, files), spark=spark)
    texts = pa.schema([("id", pa.int64()), ("amount", pa.string())])
    write_rows(tmp_path / "data/part.parquet", texts, [{"id": 1, "amount": "2.5"}])

    broken = project.run()

    assert 1 == broken.exit_code
    (error,) = broken.run.errors
    assert "breaks its contract `models/orders.contract.toml`" in error.error
    assert "`amount` is `string`, not `double`" in error.error
    assert not table_folder(tmp_path, "orders").exists()

    numbers = pa.schema([("id", pa.int64()), ("amount", pa.float64())])
    write_rows(tmp_path / "data/part.parquet", numbers, [{"id": 1, "amount": 2.5}])
    assert 0 == project.run().exit_code


def test_columns_that_only_spark_knows_are_all_there(tmp_path, spark):
    strict = f"{PROMISED}[rules]\nstrict = true\n"
    files = {
        "rocky.toml": CONFIG,
        "sources/raw.toml": SOURCE,
        "models/orders.sql": "SELECT * FROM raw.orders",
        "models/orders.contract.toml": strict,
    }
    project = rocky.open(write_files(tmp_path, files), spark=spark)
    types = pa.schema([("id", pa.int64()), ("extra", pa.string())])
    write_rows(tmp_path / "data/part.parquet", types, [{"id": 1, "extra": "x"}])

    (error,) = project.run().run.errors

    assert "it has no column `amount`" in error.error
    assert "`extra` is not in it" in error.error
