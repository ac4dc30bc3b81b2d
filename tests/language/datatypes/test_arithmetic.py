import pytest

from rocky.language.datatypes.arithmetic import arithmetic, sign
from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.datatypes.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TINYINT,
    UNKNOWN,
    decimal,
    interval,
    varchar,
)
from tests.language.datatypes.answers import Column, as_answer, disagreements, recorded_answers

OPERATORS = ["+", "-", "*", "/", "%", "div", "&", "|", "^", "<<", ">>", ">>>"]


@pytest.mark.parametrize("op", OPERATORS)
def test_an_operator_agrees_with_spark_on_every_pair_of_types(op):
    assert [] == disagreements(lambda left, right: arithmetic(op, left, right), "operators", op)


@pytest.mark.parametrize(("name", "op"), [("neg", "-"), ("pos", "+"), ("inv", "~")])
def test_a_sign_agrees_with_spark_on_every_type(name, op):
    answers = recorded_answers()
    ours = [
        as_answer([sign(op, Column(each, nullable)) for nullable in (False, True)])
        for each in answers.types
    ]

    assert answers.about("signs", name) == ours


def test_an_integer_literal_beside_a_decimal_counts_only_its_digits():
    price, two = Column(decimal(10, 2), False), Column(INT, False, 2)

    assert (decimal(12, 2), True) == arithmetic("*", price, two)
    assert (decimal(21, 2), False) == arithmetic("*", price, Column(INT, False))


def test_a_tinyint_literal_beside_a_decimal_is_three_digits_wide():
    five = Column(TINYINT, False, 5)

    assert (decimal(14, 2), False) == arithmetic("*", Column(decimal(10, 2), False), five)


def test_the_difference_of_two_dates_is_an_interval_of_days():
    day = Column(DATE, False)

    assert (interval("day", "day"), False) == arithmetic("-", day, day)


def test_a_date_moved_by_hours_becomes_a_timestamp():
    hours = Column(interval("hour", "hour"), False)

    assert (TIMESTAMP, False) == arithmetic("+", Column(DATE, False), hours)


def test_a_date_takes_no_bigint_number_of_days():
    refused = arithmetic("+", Column(DATE, False), Column(BIGINT, False))

    assert isinstance(refused, OperandMismatch)
    assert (1, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE") == (refused.argument, refused.condition)


def test_the_refusal_names_the_operand_that_is_not_a_number():
    refused = arithmetic("*", Column(DATE, False), Column(interval("year", "month"), False))

    assert isinstance(refused, OperandMismatch)
    assert 0 == refused.argument


def test_varchar_counts_as_string():
    assert (BIGINT, True) == arithmetic("+", Column(varchar(5), False), Column(INT, False))
    assert (DOUBLE, True) == sign("-", Column(varchar(5), False))


def test_an_unknown_operand_is_passed_in_silence():
    assert (UNKNOWN, True) == arithmetic("+", Column(UNKNOWN, False), Column(STRING, False))
    assert (UNKNOWN, True) == sign("~", Column(UNKNOWN, False))
