"""Recognition of masked values: what a mask could have left is told from what it could not."""

import hashlib
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from rocky.analysis.masks.recognition import look_at, values_in
from rocky.language.datatypes.text import parse_type
from rocky.project.configuration.masks import parse_strategy

HASH = hashlib.sha256(b"anna").hexdigest()


@pytest.mark.parametrize(
    ("strategy", "kind", "hidden", "shown"),
    [
        ("redact", "string", "***", "anna"),
        ("redact", "char(2)", "**", "an"),
        ("redact", "bigint", 0, 7),
        ("redact", "decimal(10,2)", Decimal("0.00"), Decimal("0.01")),
        ("redact", "boolean", False, True),
        ("redact", "date", date(1970, 1, 1), date(1970, 1, 2)),
        ("redact", "timestamp", datetime(1970, 1, 1, tzinfo=UTC), datetime(1990, 1, 1, tzinfo=UTC)),
        ("redact", "binary", b"", b"a"),
        ("redact", "array<string>", [], ["***"]),
        ("redact", "struct<a:string,b:int>", {"a": "***", "b": None}, {"a": "***", "b": 1}),
        ("null", "string", None, "***"),
        ("hash", "string", HASH, "anna"),
        ("hash", "string", HASH, HASH.upper()),
        ("hash", "binary", b"x" * 32, b"x" * 31),
        ("hash", "array<string>", [HASH, None], [HASH, "anna"]),
        ("hash", "struct<a:string>", {"a": HASH}, {"a": "anna"}),
        ("sha2", "string", HASH, "anna"),
        ("partial", "string", "an***om", "anna@example.com"),
        ("partial", "string", "***", "an*om"),
        ("truncate(4)", "string", "anna", "annas"),
        ("truncate(2)", "binary", b"ab", b"abc"),
        ("bucket(10)", "int", 40, 41),
        ("bucket(10)", "decimal(10,2)", Decimal("40.00"), Decimal("40.01")),
        ("bucket(10)", "tinyint", -128, -127),
        ("date_trunc(year)", "date", date(1987, 1, 1), date(1987, 2, 1)),
        ("date_trunc(quarter)", "date", date(1987, 4, 1), date(1987, 5, 1)),
        ("date_trunc(month)", "date", date(1987, 5, 1), date(1987, 5, 2)),
        ("date_trunc(week)", "date", date(2026, 11, 16), date(2026, 11, 17)),
        ("date_trunc(day)", "timestamp_ntz", datetime(2026, 1, 2), datetime(2026, 1, 2, 3)),  # noqa: DTZ001
        (
            "date_trunc(hour)",
            "timestamp",
            datetime(2026, 1, 2, 3, tzinfo=UTC),
            datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        ),
        (
            "date_trunc(minute)",
            "timestamp",
            datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
            datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        ),
    ],
)
def test_what_a_mask_leaves_is_told_from_what_it_would_change(strategy, kind, hidden, shown):
    mask, of = parse_strategy(strategy), parse_type(kind)

    assert look_at(mask, of, hidden) == ("hidden" if hidden is not None else "nothing")
    assert "shown" == look_at(mask, of, shown)


@pytest.mark.parametrize(
    ("strategy", "kind", "value"),
    [
        ("hash", "bigint", 1 << 60),
        ("sql(left(value, 1))", "string", "anna"),
        # Midnight in a zone half an hour off.
        ("date_trunc(day)", "timestamp", datetime(2026, 1, 1, 18, 30, tzinfo=UTC)),
    ],
)
def test_what_could_be_either_is_not_called_hidden(strategy, kind, value):
    assert "either" == look_at(parse_strategy(strategy), parse_type(kind), value)


def test_a_small_number_is_no_hash():
    assert "shown" == look_at(parse_strategy("hash"), parse_type("bigint"), 4711)


def test_a_field_is_found_through_structs_and_arrays():
    kind = parse_type("array<struct<Home:struct<street:string>>>")
    value = [{"Home": {"street": "a"}}, None, {"Home": {"street": "b"}}]

    assert ["a", None, "b"] == [each for _, each in values_in(kind, value, ("home", "street"))]
