"""The widening table, row by row, with the neighbours that are not in it."""

import pytest

from rocky.analysis.changes.columns import compared_type, widening_reason
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import UNKNOWN, array

WIDER = [
    ("tinyint", "smallint int bigint double decimal(10,0) decimal(12,2)"),
    ("smallint", "int bigint double decimal(10,0)"),
    ("int", "bigint double decimal(10,0) decimal(38,28)"),
    ("bigint", "decimal(20,0) decimal(38,18)"),
    ("float", "double"),
    ("decimal(10,2)", "decimal(11,2) decimal(11,3) decimal(38,30)"),
    ("date", "timestamp_ntz"),
    ("varchar(3)", "varchar(4) string"),
    ("char(3)", "varchar(3) string"),
    ("array<array<int>>", "array<array<bigint>>"),
    ("map<string,date>", "map<string,timestamp_ntz>"),
    ("struct<a:int,b:date>", "struct<a:bigint,b:date> struct<A:int,B:date,c:string>"),
]
NARROWER = [
    ("smallint", "tinyint"),
    ("int", "float decimal(9,0) decimal(11,2) string boolean date timestamp"),
    ("bigint", "int double float decimal(10,0) decimal(19,0) decimal(20,1)"),
    ("double", "float decimal(38,18)"),
    ("decimal(10,2)", "decimal(9,2) decimal(10,1) decimal(10,3) decimal(12,5) double bigint"),
    ("date", "timestamp string"),
    ("timestamp", "timestamp_ntz date"),
    ("timestamp_ntz", "timestamp date"),
    ("string", "varchar(100) char(1) binary int variant"),
    ("varchar(4)", "varchar(3) char(4)"),
    ("char(3)", "char(4) varchar(2)"),
    ("boolean", "int string"),
    ("void", "int"),
    ("array<int>", "array<string> map<int,int>"),
    ("map<int,int>", "map<string,int> map<int,tinyint>"),
    ("struct<a:int,b:date>", "struct<a:int> struct<b:date,a:int> struct<a:int,x:date>"),
]


def pairs(table):
    return [(one, other) for one, others in table for other in others.split(" ")]


@pytest.mark.parametrize(("before", "after"), pairs(WIDER))
def test_a_wider_type_is_in_the_table_and_the_way_back_is_not(before, after):
    one, other = parse_type(before), parse_type(after)

    assert widening_reason(one, other) is not None
    assert widening_reason(other, one) is None


@pytest.mark.parametrize(("before", "after"), pairs(NARROWER))
def test_a_type_that_may_lose_something_is_not_in_the_table(before, after):
    assert widening_reason(parse_type(before), parse_type(after)) is None


def test_a_new_field_that_cannot_be_null_is_no_widening():
    assert (
        widening_reason(parse_type("struct<a:int>"), parse_type("struct<a:int,b:int NOT NULL>"))
        is None
    )


def test_an_unknown_type_is_never_a_widening():
    assert widening_reason(parse_type("int"), UNKNOWN) is None
    assert widening_reason(UNKNOWN, parse_type("int")) is None


def test_a_collation_is_no_length():
    assert widening_reason(parse_type("string"), parse_type("string collate UTF8_LCASE")) is None


def test_the_same_type_does_not_widen():
    for text in ("int", "decimal(10,2)", "string", "array<int>", "struct<a:int>"):
        assert widening_reason(parse_type(text), parse_type(text)) is None


def test_nullability_of_parts_is_not_part_of_what_is_compared():
    assert compared_type(array(parse_type("int"), False)) is compared_type(
        array(parse_type("int"), True)
    )
