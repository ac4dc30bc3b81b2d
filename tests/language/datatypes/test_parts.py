"""The types inside a type."""

from rocky.language.datatypes.parts import holds_kind, is_complete, make_nullable, parts_of
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import (
    INT,
    STRING,
    UNKNOWN,
    StructField,
    array,
    map_of,
    struct,
    varchar,
)

NESTED = array(struct((StructField("A", map_of(STRING, INT, False), False),)), False)


def test_the_parts_of_a_type_are_itself_and_all_that_is_in_it():
    kinds = [part.kind for part in parts_of(NESTED)]

    assert ["array", "struct", "map", "string", "int"] == kinds


def test_a_type_holds_the_kinds_of_its_parts():
    assert holds_kind(NESTED, "variant", "map")
    assert not holds_kind(NESTED, "variant", "double")


def test_a_type_is_complete_when_every_part_is_known():
    assert is_complete(NESTED)
    assert not is_complete(array(map_of(STRING, UNKNOWN)))


def test_a_type_made_nullable_is_so_in_every_part():
    assert parse_type("array<struct<A:map<string,int>>>") is make_nullable(NESTED)
    assert parse_type("array<struct<a:map<string,int>>>") is make_nullable(NESTED, name=str.lower)
    assert parse_type("array<string>") is make_nullable(
        array(varchar(3)), leaf=lambda kind: STRING if kind.kind == "varchar" else kind
    )
