"""Probes: the columns and literals with which functions are tried.

A *class* is a type the catalogue tells apart; every other type is read as one of the classes.
An *extra* belongs to a class but differs in what the class hides (precision, unit, collation,
nullable elements): extras show whether a result is fixed or follows its argument.
"""

from dataclasses import dataclass
from typing import Final

from rocky.language.datatypes.text import parse_type, type_to_json
from rocky.language.datatypes.types import CALENDAR_INTERVAL, NULL, DataType, array, map_of, string
from rocky.language.functions.templates import CLASS_TEXTS

_EXTRA_TEXTS: Final = (
    "decimal(20,5)",
    "decimal(5,0)",
    "decimal(38,18)",
    "time(0)",
    "interval month",
    "interval year",
    "interval day",
    "interval hour to minute",
    "array<struct<x:date>>",
    "struct<x:date,y:array<int>>",
    "array<array<string>>",
)
# Classes the catalogue does not have: asked only to see how well it generalises.
UNSEEN_TEXTS: Final = (
    "array<bigint>",
    "array<date>",
    "array<decimal(10,2)>",
    "array<boolean>",
    "array<binary>",
    "array<timestamp>",
    "map<string,string>",
    "map<date,double>",
)

_LITERALS: Final = {
    "void": "NULL",
    "boolean": "true",
    "tinyint": "1Y",
    "smallint": "1S",
    "int": "1",
    "bigint": "1L",
    "float": "1F",
    "double": "1D",
    "decimal(10,2)": "CAST(1 AS DECIMAL(10,2))",
    "string": "'1'",
    "binary": "X'31'",
    "date": "DATE'2020-01-01'",
    "timestamp": "TIMESTAMP'2020-01-01 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ'2020-01-01 00:00:00'",
    "time(6)": "TIME'10:00:00'",
    "interval year to month": "INTERVAL '1-1' YEAR TO MONTH",
    "interval day to second": "INTERVAL '1 00:00:00' DAY TO SECOND",
    "interval": "make_interval(1)",
    "array<int>": "array(1, 2)",
    "array<string>": "array('a', 'b')",
    "array<double>": "array(0.5D, 0.25D)",
    "map<string,int>": "map('a', 1)",
    "map<int,string>": "map(1, 'a')",
    "struct<a:int,b:string>": "named_struct('a', 1, 'b', 'x')",
    "array<struct<a:int,b:string>>": "array(named_struct('a', 1, 'b', 'x'))",
    "array<array<int>>": "array(array(1))",
    "variant": "parse_json('1')",
}


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to write an argument: its SQL, and what Spark knows about it."""

    sql: str
    type: DataType
    nullable: bool
    foldable: bool = False


def _type(text: str) -> DataType:
    if text == "interval":
        return CALENDAR_INTERVAL
    return NULL if text == "void" else parse_type(text)


VOID: Final = Probe("NULL", NULL, nullable=True, foldable=True)

CLASSES: Final[list[Probe]] = [
    VOID if text == "void" else Probe(f"c{at}", _type(text), nullable=False)
    for at, text in enumerate(CLASS_TEXTS)
]
NULLABLE: Final[dict[str, Probe]] = {
    probe.sql: Probe("n" + probe.sql[1:], probe.type, nullable=True)
    for probe in CLASSES
    if probe is not VOID
}
LITERALS: Final[list[Probe]] = [
    Probe(_LITERALS[text], _type(text), nullable=text == "void", foldable=True)
    for text in CLASS_TEXTS
]
EXTRAS: Final[list[Probe]] = [
    Probe(f"x{at}", found, nullable=False)
    for at, found in enumerate(
        [
            *(_type(text) for text in _EXTRA_TEXTS),
            string("UTF8_LCASE"),
            array(_type("int"), False),
            array(_type("string"), False),
            array(array(_type("int"), False), True),
            map_of(_type("string"), _type("int"), False),
            map_of(_type("int"), _type("string"), False),
        ]
    )
]
UNSEEN: Final[list[Probe]] = [
    Probe(f"u{at}", _type(text), nullable=False) for at, text in enumerate(UNSEEN_TEXTS)
]
COLUMNS: Final[list[Probe]] = [
    *(probe for probe in CLASSES if probe is not VOID),
    *NULLABLE.values(),
    *EXTRAS,
    *UNSEEN,
]


def view_schema() -> dict[str, object]:
    """Spark's schema JSON of a table that has every probe as a column."""
    fields: list[dict[str, object]] = []
    for probe in COLUMNS:
        collation = getattr(probe.type, "collation", "UTF8_BINARY")
        plain = collation == "UTF8_BINARY"
        fields.append(
            {
                "name": probe.sql,
                "type": type_to_json(probe.type) if plain else "string",
                "nullable": probe.nullable,
                "metadata": {} if plain else {"__COLLATIONS": {probe.sql: f"spark.{collation}"}},
            }
        )
    return {"type": "struct", "fields": fields}
