import pytest

from rocky.language.datatypes.casts import (
    can_cast,
    can_try_cast,
    cast_nullable,
    cast_refusal,
    force_nullable,
    try_cast_nullable,
)
from rocky.language.datatypes.safe_casts import can_up_cast, is_lossless, store_assignable
from rocky.language.datatypes.text import type_to_json
from rocky.language.datatypes.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    UNKNOWN,
    StructField,
    array,
    char,
    decimal,
    interval,
    map_of,
    string,
    struct,
    time,
    varchar,
)
from tests.language.datatypes.answers import recorded_answers

RULES = {
    "ansi": can_cast,
    "cast": lambda source, target: can_cast(source, target, ansi=False),
    "try": can_try_cast,
    "up": can_up_cast,
    "store": store_assignable,
    "force": force_nullable,
}


@pytest.mark.parametrize("name", RULES)
def test_a_cast_rule_agrees_with_spark_on_every_pair_of_types(name):
    answers, rule = recorded_answers(), RULES[name]

    assert answers.flags_about("casts", name) == [rule(a, b) for a, b in answers.pairs()]


def nullable_parts(given):
    """The type as CAST names it: the parts of a spelled type are always nullable."""
    text = str(type_to_json(given))
    return "'containsNull': False" not in text and "'valueContainsNull': False" not in text


@pytest.mark.parametrize("name", ["cast", "trycast"])
def test_an_explicit_cast_agrees_with_spark_on_result_and_refusal(name):
    answers, found = recorded_answers(), []
    nullability = try_cast_nullable if name == "trycast" else cast_nullable
    for (source, target), spark in zip(
        answers.pairs(), answers.about("operators", name), strict=True
    ):
        if not nullable_parts(target) or (
            target.kind == "struct" and not target.fields[0].nullable
        ):
            continue
        refusal = cast_refusal(source, target, is_try=name == "trycast")
        if refusal is not None:
            ours = refusal.condition
        else:
            flags = [nullability(source, target, source is NULL or n) for n in (False, True)]
            ours = target, "".join("01"[flag] for flag in flags)
        if ours != spark:
            found.append((str(source), str(target), spark, ours))

    assert [] == found


def test_a_string_cast_to_a_number_is_nullable_even_in_ansi_mode():
    assert cast_nullable(STRING, INT, False)
    assert not cast_nullable(INT, STRING, False)


def test_char_and_varchar_cast_as_strings():
    assert can_cast(varchar(3), DATE)
    assert not force_nullable(char(3), STRING)
    assert force_nullable(varchar(3), INT)


def test_an_unknown_type_casts_to_anything():
    assert can_cast(UNKNOWN, DATE)
    assert cast_refusal(array(INT), UNKNOWN) is None


def field(name, kind, nullable=True):
    return struct((StructField(name, kind, nullable),))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (TINYINT, SMALLINT),
        (INT, BIGINT),
        (INT, DOUBLE),
        (FLOAT, DOUBLE),
        (INT, decimal(10, 0)),
        (BIGINT, decimal(22, 2)),
        (decimal(10, 2), decimal(12, 4)),
        (DATE, TIMESTAMP_NTZ),
        (varchar(3), varchar(5)),
        (varchar(3), STRING),
        (char(3), varchar(3)),
        (time(3), time(6)),
        (interval("day", "day"), interval("day", "second")),
        (NULL, DATE),
        (array(INT, False), array(BIGINT)),
        (map_of(INT, INT), map_of(BIGINT, INT)),
        (field("a", INT, False), field("A", BIGINT)),
        (array(UNKNOWN), array(DATE)),
    ],
    ids=str,
)
def test_a_widening_loses_nothing(source, target):
    assert is_lossless(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (BIGINT, INT),
        (BIGINT, DOUBLE),
        (INT, FLOAT),
        (INT, STRING),
        (DOUBLE, decimal(38, 18)),
        (decimal(10, 2), decimal(11, 4)),
        (DATE, TIMESTAMP),
        (TIMESTAMP, DATE),
        (STRING, varchar(5)),
        (varchar(5), varchar(3)),
        (varchar(3), char(3)),
        (STRING, string("UTF8_LCASE")),
        (interval("day", "second"), interval("day", "day")),
        (interval("day", "day"), interval("month", "month")),
        (array(INT), array(INT, False)),
        (field("a", INT), field("a", INT, False)),
        (field("a", INT), field("b", INT)),
        (BOOLEAN, INT),
    ],
    ids=str,
)
def test_a_change_that_may_lose_something_is_not_a_widening(source, target):
    assert not is_lossless(source, target)
