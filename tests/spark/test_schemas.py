"""Schemas go to Spark and come back the same, lengths and collations included."""

import pytest
from pyspark.sql.types import StructType

from rocky.language.datatypes.text import field_to_json, parse_schema
from rocky.spark.frame import fields_of, readable_schema

ALL_TYPES = (
    "a int, b array<struct<x: varchar(3), y: string collate UTF8_LCASE>>,"
    " c map<string, array<char(4)>>, d interval day to second, e interval month, f time(3),"
    " g decimal(10,2), h variant, i void, j timestamp_ntz, k binary, l char(3), m tinyint,"
    " n interval, o timestamp, p boolean, q float, r string collate UNICODE_CI"
)


class Frame:
    """All that is asked of a frame here."""

    def __init__(self, schema: StructType) -> None:
        self.schema = schema


def described(fields):
    return [field_to_json(field) for field in fields]


def test_every_type_comes_back_from_sparks_own_schema():
    fields = parse_schema(ALL_TYPES)

    assert described(fields) == described(fields_of(Frame(readable_schema(fields))))


def test_what_is_read_may_be_null_through_and_through():
    fields = parse_schema("a array<struct<x: int NOT NULL>> NOT NULL, b map<int, int> NOT NULL")

    (a, b) = fields_of(Frame(readable_schema(fields)))
    assert (True, True, True) == (
        a.nullable,
        a.type.contains_null,
        a.type.element.fields[0].nullable,
    )
    assert (True, True) == (b.nullable, b.type.contains_null)


def test_a_length_is_kept_in_the_metadata_where_spark_looks_for_it():
    (field,) = readable_schema(parse_schema("a varchar(3)")).fields

    assert "string" == field.dataType.simpleString()
    assert {"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"} == field.metadata


@pytest.mark.spark
def test_spark_takes_the_schema_and_gives_it_back(spark):
    fields = parse_schema(
        "a varchar(3), b array<struct<x: int, y: string collate UTF8_LCASE>>, c interval day"
    )
    frame = spark.createDataFrame([], readable_schema(fields))

    assert described(fields) == described(fields_of(frame))
