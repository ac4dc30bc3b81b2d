import pytest

from rocky.language.datatypes.coercion import (
    implicit_cast,
    inline_table_type,
    same_type,
    tightest_type,
    widest_of,
    widest_type,
    widest_without_string,
)
from rocky.language.datatypes.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    array,
    decimal,
    varchar,
)
from tests.language.datatypes.answers import recorded_answers

RULES = {
    "wide": widest_type,
    "tight": tightest_type,
    "nostring": widest_without_string,
    "wide_legacy": lambda a, b: widest_type(a, b, ansi=False),
    "tight_legacy": lambda a, b: tightest_type(a, b, ansi=False),
}


@pytest.mark.parametrize("name", RULES)
def test_a_common_type_agrees_with_spark_on_every_pair_of_types(name):
    answers, rule = recorded_answers(), RULES[name]

    assert answers.types_about("pairs", name) == [rule(a, b) for a, b in answers.pairs()]


@pytest.mark.parametrize("mode", ["ansi", "legacy"])
def test_an_implicit_cast_to_a_family_agrees_with_spark(mode):
    answers = recorded_answers()
    for family in answers.table["families"]:
        ours = [implicit_cast(each, family, ansi=mode == "ansi") for each in answers.types]

        assert answers.types_about("families", family, mode) == ours, family


@pytest.mark.parametrize("mode", ["ansi", "legacy"])
def test_an_implicit_cast_to_a_type_agrees_with_spark(mode):
    answers = recorded_answers()
    ours = [
        implicit_cast(source, target, ansi=mode == "ansi") for target, source in answers.pairs()
    ]

    assert answers.types_about("targets", mode) == ours


def test_the_first_family_that_fits_is_taken():
    assert INT is implicit_cast(STRING, (INT, BIGINT))
    assert BIGINT is implicit_cast(BIGINT, (INT, BIGINT))
    assert implicit_cast(DATE, ("numeric", BOOLEAN)) is None


def test_the_widest_of_many_is_met_from_the_left():
    assert TIMESTAMP is widest_of([DATE, NULL, STRING, TIMESTAMP])
    assert decimal(12, 2) is widest_of([INT, decimal(3, 2), decimal(5, 1)])
    assert widest_of([INT, DATE]) is None
    assert NULL is widest_of([])


def test_an_inline_table_never_promotes_a_string():
    assert inline_table_type([INT, STRING]) is None
    assert FLOAT is inline_table_type([INT, FLOAT])
    assert DOUBLE is widest_type(INT, FLOAT)


def test_types_that_differ_only_in_null_flags_are_the_same():
    assert same_type(array(INT), array(INT, False))
    assert not same_type(array(INT), array(BIGINT))


def test_varchar_meets_string_in_string():
    assert STRING is widest_type(varchar(3), STRING)


def test_an_unknown_type_makes_the_common_type_unknown():
    assert UNKNOWN is widest_type(UNKNOWN, INT)
    assert array(UNKNOWN) is widest_type(array(UNKNOWN), array(INT))
