"""Files that Spark itself wrote: their footers are believed, and salted ones are read back."""

import json

import pytest

from rocky.errors import RowsRefused
from rocky.language.datatypes.types import BIGINT, DATE, DOUBLE, FLOAT, INT, STRING, StructField
from rocky.store.parquet.staging import place_files
from tests.store.parquet_files import open_table

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path):
    return open_table(tmp_path / "ware house é")


def written(spark, table, query, fields, partition_columns=()):
    """The files of a query, written by Spark and placed."""
    staging = table.new_staging()
    parts = [f"__part_{number}" for number in range(len(partition_columns))]
    frame = spark.sql(query).coalesce(1)
    for part, column in zip(parts, partition_columns, strict=True):
        frame = frame.withColumn(part, frame[column])
    folder = f"{table.uri}/{staging}"
    frame.write.option("outputTimestampType", "TIMESTAMP_MICROS").partitionBy(*parts).parquet(
        folder
    )
    return place_files(table, staging, fields, partition_columns, frozenset())


FLOATS = {
    "plain": (["1.5", "-2.5", "NULL"], (-2.5, 1.5)),
    "nan_first": (["'NaN'", "1", "NULL"], (None, None)),
    "nan_between": (["1", "'NaN'", "2"], (None, None)),
    "nan_last": (["NULL", "1", "'NaN'"], (None, None)),
    "nan_alone": (["'NaN'", "'NaN'", "'NaN'"], (None, None)),
    "infinite": (["1", "'Infinity'", "NULL"], (None, None)),
    "zero_below": (["-0.0", "-1", "NULL"], (-1.0, 0.0)),
    "zero_above": (["0.0", "1", "NULL"], (-0.0, 1.0)),
}


def test_bounds_of_floats_that_spark_wrote_are_right_or_left_out(spark, table):
    kinds = {"d": DOUBLE, "f": FLOAT}
    names = [(f"{case}_{kind}", case, kind) for case in FLOATS for kind in kinds]
    rows = [
        "("
        + ", ".join(f"CAST({FLOATS[case][0][at]} AS {kinds[kind]})" for _, case, kind in names)
        + ")"
        for at in range(3)
    ]
    listed = ", ".join(name for name, _, _ in names)
    fields = [StructField(name, kinds[kind], True) for name, _, kind in names]
    (file,) = written(spark, table, f"SELECT * FROM VALUES {', '.join(rows)} t({listed})", fields)
    stats = json.loads(file.stats)

    # As text: -0.0 and 0.0 are equal numbers.
    assert {name: str(FLOATS[case][1]) for name, case, _ in names} == {
        name: str((stats["minValues"].get(name), stats["maxValues"].get(name)))
        for name, _, _ in names
    }


def test_spark_reads_salted_copies_beside_the_file_itself(spark, table):
    fields = (StructField("id", BIGINT, True),)
    query = "SELECT id FROM range(1000)"
    first = written(spark, table, query, fields)
    again = place_copies(table, first[0], fields, 3)
    frame = spark.read.schema("id BIGINT").parquet(*[table.file_uri(file) for file in again])

    assert 4 == len({file.path for file in again})
    assert 4000 == frame.count()
    assert 4 == frame.where("id = 999").count()


def place_copies(table, file, fields, count):
    """The file and copies of it, as repeated appends of the same rows would make them."""
    data = table.objects.read(f"{table.prefix}/{file.path}")
    files = [file]
    for _ in range(count):
        staging = table.new_staging()
        table.objects.put(f"{table.prefix}/{staging}/part-0.parquet", data)
        files += place_files(table, staging, fields, (), frozenset(each.path for each in files))
    return files


def test_partition_values_are_those_that_spark_wrote(spark, table):
    fields = (
        StructField("id", INT, True),
        StructField("where", STRING, True),
        StructField("on", DATE, True),
    )
    query = (
        "SELECT * FROM VALUES (1, 'a/b:c%=é x', DATE'2024-01-01'), (2, NULL, NULL),"
        " (3, '%2F', DATE'0100-01-01') AS t(id, where, on)"
    )
    files = written(spark, table, query, fields, ["where", "on"])
    values = sorted(
        (file.partition_values["where"] or "", file.partition_values["on"]) for file in files
    )

    assert [("", None), ("%2F", "0100-01-01"), ("a/b:c%=é x", "2024-01-01")] == values
    assert 3 == spark.read.parquet(*[table.file_uri(file) for file in files]).count()


def test_an_empty_string_cannot_be_a_partition(spark, table):
    fields = (StructField("id", INT, True), StructField("where", STRING, True))
    query = "SELECT * FROM VALUES (1, ''), (2, 'x') AS t(id, where)"

    with pytest.raises(RowsRefused, match=r"`where` of `shop.sales.orders` holds an empty string"):
        written(spark, table, query, fields, ["where"])


def test_a_null_that_spark_wrote_into_a_required_column_is_refused(spark, table):
    fields = (StructField("id", INT, False),)

    with pytest.raises(RowsRefused, match=r"`id` of `shop.sales.orders` is NOT NULL, but 1 row"):
        written(spark, table, "SELECT * FROM VALUES (1), (NULL) AS t(id)", fields)
