"""Rows written in TOML become values of their columns, or are refused by name."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from rocky.language.datatypes.text import parse_schema, parse_type
from rocky.language.datatypes.types import StructField
from rocky.run.checks.fixtures import UnusableFixture, convert_rows, nullable_columns
from rocky.run.checks.unit_tests import zone_named

NOON = datetime.fromisoformat("2026-01-31T12:00:00")
BERLIN_WINTER = timezone(timedelta(hours=1))


def converted(value, kind, zone=UTC):
    column = StructField("c", parse_type(kind), nullable=True)
    return convert_rows([{"c": value}], [column], zone)[0]["c"]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (True, "boolean", True),
        (127, "tinyint", 127),
        (-(2**63), "bigint", -(2**63)),
        (1, "double", 1.0),
        (12.34, "decimal(12,2)", Decimal("12.34")),
        ("12345678901234567890.12", "decimal(38,2)", Decimal("12345678901234567890.12")),
        ("text", "string", "text"),
        ("ab", "varchar(2)", "ab"),
        (date(2026, 1, 31), "date", date(2026, 1, 31)),
        ("2026-01-31", "date", date(2026, 1, 31)),
        ("2026-01-31 10:00:00", "timestamp", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        (datetime(2026, 1, 31, 10, tzinfo=BERLIN_WINTER), "timestamp", datetime(2026, 1, 31, 10, tzinfo=BERLIN_WINTER)),
        ("2026-01-31T12:00:00", "timestamp_ntz", NOON),
        ("00ff", "binary", b"\x00\xff"),
        ([1, 2], "array<int>", [1, 2]),
        ({"a": 1.5}, "map<string,decimal(3,1)>", {"a": Decimal("1.5")}),
        ({"A": 1}, "struct<a:int,b:string>", {"a": 1, "b": None}),
    ],
)  # fmt: skip
def test_a_value_is_read_as_its_column_means_it(value, kind, expected):
    found = converted(value, kind)

    assert (expected, type(expected)) == (found, type(found))


def test_a_time_without_a_zone_is_in_the_zone_of_the_session():
    found = converted(NOON, "timestamp", zone_named("Europe/Berlin"))

    assert datetime(2026, 1, 31, 11, tzinfo=UTC) == found


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("yes", "boolean", 'column `c`: "yes" is not of type `boolean`: write true or false'),
        (1.5, "int", "column `c`: 1.5 is not of type `int`"),
        (True, "int", "column `c`: True is not of type `int`"),
        (128, "tinyint", "column `c`: 128 is not of type `tinyint`: it is too large"),
        (1.234, "decimal(12,2)", "column `c`: 1.234 is not of type `decimal(12,2)`: it has more than 2 decimal places"),
        (1000, "decimal(4,2)", "column `c`: 1000 is not of type `decimal(4,2)`: it is too large"),
        ("x", "decimal(4,2)", 'column `c`: "x" is not of type `decimal(4,2)`'),
        (7, "string", "column `c`: 7 is not of type `string`: write it in quotes"),
        ("31.01.2026", "date", 'column `c`: "31.01.2026" is not of type `date`: write it like 2026-01-31'),
        ("soon", "timestamp", 'column `c`: "soon" is not of type `timestamp`: write it like 2026-01-31T12:00:00'),
        (datetime(2026, 1, 1, tzinfo=UTC), "timestamp_ntz", "column `c`: 2026-01-01 00:00:00+00:00 is not of type `timestamp_ntz`: it has a time zone"),
        ("zz", "binary", 'column `c`: "zz" is not of type `binary`: write it in hexadecimal digits'),
        (1, "array<int>", "column `c`: 1 is not of type `array<int>`: write a list"),
        ({"d": 1}, "struct<a:int>", "column `c`: there is no column `d`; did you mean `a`?"),
        ({"1": 1}, "map<int,int>", "column `c`: a map whose keys are `int` cannot be written in a test"),
        ("10:30:00", "time(6)", "column `c`: values of type `time(6)` cannot be written in a test"),
        ("1", "variant", "column `c`: values of type `variant` cannot be written in a test"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_by_name(value, kind, message):
    with pytest.raises(UnusableFixture) as refusal:
        converted(value, kind)

    assert message == str(refusal.value)


def test_an_unknown_column_is_refused_with_the_nearest():
    with pytest.raises(UnusableFixture) as refusal:
        convert_rows([{"amuont": 1}], parse_schema("id BIGINT, amount INT"), UTC)

    assert "there is no column `amuont`; did you mean `amount`?" == str(refusal.value)


def test_absent_columns_stay_absent_and_names_are_those_of_the_table():
    assert [{"Id": 1}] == convert_rows([{"ID": 1}], parse_schema("Id BIGINT, amount INT"), UTC)


def test_a_fixture_may_leave_out_what_is_never_null():
    (column,) = nullable_columns(
        [StructField("s", parse_type("struct<a: int NOT NULL>"), nullable=False)]
    )

    assert (True, True) == (column.nullable, column.type.fields[0].nullable)
