"""Which columns a table can have is known without Spark."""

import pytest

from rocky.language.datatypes.text import parse_schema
from rocky.spark.interface import storage_problems


def problems(schema: str, *partitions: str) -> list[str]:
    return storage_problems(parse_schema(schema), partitions)


def test_every_type_that_parquet_and_delta_can_hold_is_storable():
    assert [] == problems(
        "a tinyint, b smallint, c int, d bigint, e float, f double, g decimal(38,10), h string,"
        " i char(3), j varchar(3), k binary, l boolean, m date, n timestamp, o timestamp_ntz,"
        " p interval day to second, q interval year, r variant, s array<struct<x: int>>,"
        " t map<string, array<int>>, u string collate UTF8_LCASE"
    )


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (
            "a interval",
            "column `a` is of type `interval`, which cannot be stored:"
            " cast it to a day-time or a year-month interval",
        ),
        (
            "a array<time(6)>",
            "column `a.element` is of type `time(6)`, which cannot be stored: cast it to a string",
        ),
        (
            "a map<string, void>",
            "column `a.value` is of type `void`, which cannot be stored:"
            " give the null a type: `CAST(NULL AS STRING)`",
        ),
        (
            "a struct<b: struct<>>",
            "column `a.b` is a struct without fields, which Parquet cannot store: drop it",
        ),
        ("a int, A int", "column `A` is there twice: names are compared without case"),
    ],
)
def test_a_column_that_cannot_be_stored_is_named_with_the_way_out(schema, problem):
    assert [problem] == problems(schema)


def test_a_result_without_columns_is_refused():
    assert ["a table needs at least one column, and the query gives none"] == storage_problems([])


def test_a_table_is_partitioned_by_plain_columns_that_it_has():
    assert [
        "column `tags` is a `array<int>`, and tables are partitioned by plain values",
        "there is no column `day` to partition by",
    ] == problems("id int, tags array<int>", "tags", "day")
