from decimal import Decimal

import pytest

from rocky.language.datatypes.arithmetic import arithmetic
from rocky.language.datatypes.comparison import (
    between,
    case_branches,
    comparison,
    concatenation,
    in_list,
    in_subquery,
    set_operation_column,
)
from rocky.language.datatypes.operators import (
    OperandMismatch,
    conjunction,
    distinct_refusal,
    group_refusal,
    is_orderable,
    like,
    negation,
    partition_refusal,
)
from rocky.language.datatypes.text import type_from_json
from rocky.language.datatypes.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    CALENDAR_INTERVAL,
    DATE,
    DOUBLE,
    INT,
    STRING,
    UNKNOWN,
    VARIANT,
    StructField,
    array,
    decimal,
    map_of,
    string,
    struct,
)
from tests.language.datatypes.answers import (
    UNTOLD,
    Column,
    answer_of,
    as_answer,
    disagreements,
    recorded_answers,
)


def typed(outcome):
    return outcome if isinstance(outcome, OperandMismatch) else (BOOLEAN, outcome.nullable)


def compared(op):
    return lambda left, right: typed(comparison(op, left, right))


RULES = {
    "=": compared("="),
    "<": compared("<"),
    "<=>": compared("<=>"),
    "in": lambda left, right: typed(in_list(left, [right])),
    "between": lambda left, right: between(left, right, right),
    "like": lambda left, right: like("LIKE", left, [right]),
    "rlike": lambda left, right: like("RLIKE", left, [right]),
    "and": lambda left, right: conjunction("AND", left, right),
    "||": lambda left, right: concatenation([left, right]),
    "case": lambda left, right: case_branches([left, right], has_else=True),
    "unionall": lambda left, right: set_operation_column("UNION", left, right),
    "intersect": lambda left, right: set_operation_column("INTERSECT", left, right),
    "except": lambda left, right: set_operation_column("EXCEPT", left, right),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_agrees_with_spark_on_every_pair_of_types(name):
    assert [] == disagreements(RULES[name], "operators", name)


def test_not_agrees_with_spark_on_every_type():
    answers = recorded_answers()
    ours = [
        as_answer([negation(Column(each, nullable)) for nullable in (False, True)])
        for each in answers.types
    ]

    assert answers.about("signs", "not") == ours


def literal_value(text, kind):
    if kind == "decimal":
        return Decimal(text)
    if text == "NULL":
        return None
    return (
        text[1:-1] if text.startswith("'") else int(text.rstrip("LSY")) if kind != "double" else 1e3
    )


LITERAL_RULES = {
    **{op: RULES[op] for op in ("=", "<", "<=>", "in", "between")},
    **{op: compared(op) for op in ("<=", ">", ">=")},
    **{
        op: lambda left, right, op=op: arithmetic(op, left, right)
        for op in ("+", "-", "*", "/", "%", "div")
    },
}


@pytest.mark.parametrize("op", LITERAL_RULES)
def test_an_operator_on_a_literal_agrees_with_spark(op):
    answers, rule, found = recorded_answers(), LITERAL_RULES[op], []
    literals = answers.table["literals"]
    for side in ("lr", "rl"):
        spark = iter(answers.about("literals", "answers", op, side))
        for text, spelled in zip(literals["texts"], literals["types"], strict=True):
            kind = type_from_json(spelled)
            literal = Column(kind, False, literal_value(text, kind.kind))
            for other in answers.types:
                columns = [Column(other, nullable) for nullable in (False, True)]
                ours = as_answer(
                    [rule(literal, c) if side == "lr" else rule(c, literal) for c in columns]
                )
                expected = next(spark)
                if ours != expected and expected not in UNTOLD:
                    found.append((text, side, str(other), expected, ours))

    assert [] == found


@pytest.mark.parametrize(
    ("left", "right", "unsafe"),
    [
        (INT, STRING, True),
        (STRING, DATE, True),
        (BOOLEAN, STRING, True),
        (BINARY, STRING, False),
        (INT, BIGINT, False),
        (STRING, STRING, False),
        (INT, UNKNOWN, False),
    ],
    ids=str,
)
def test_only_a_string_that_must_be_read_as_something_else_is_unsafe(left, right, unsafe):
    met = comparison("=", Column(left, False), Column(right, False))

    assert not isinstance(met, OperandMismatch)
    assert unsafe == met.unsafe


def test_the_common_type_of_a_comparison_is_what_both_sides_are_cast_to():
    met = comparison("=", Column(decimal(10, 2), False), Column(INT, False))

    assert not isinstance(met, OperandMismatch)
    assert decimal(12, 2) is met.common


def test_a_decimal_literal_beyond_every_bigint_settles_a_comparison():
    huge = Column(decimal(24, 0), False, Decimal(10) ** 23)

    assert (BOOLEAN, False) == typed(comparison("<", Column(INT, True), huge))
    assert (BOOLEAN, True) == typed(comparison("=", Column(INT, True), huge))


def test_in_a_subquery_types_that_do_not_meet_have_a_condition_of_their_own():
    refused = in_subquery(Column(INT, False), Column(DATE, False))

    assert isinstance(refused, OperandMismatch)
    assert "DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH" == refused.condition


def test_like_any_over_literals_is_nullable_and_over_columns_is_not():
    text, literal = Column(STRING, False), Column(STRING, False, "a%")

    assert (BOOLEAN, True) == like("LIKE", text, [literal, literal])
    assert (BOOLEAN, True) == like("LIKE", text, [literal], quantified=True)
    assert (BOOLEAN, False) == like("LIKE", text, [literal])
    assert (BOOLEAN, False) == like("LIKE", text, [literal, text])


def test_a_case_without_else_is_nullable():
    assert (INT, True) == case_branches([Column(INT, False)], has_else=False)


def test_a_collation_wins_over_the_default_one():
    folded = string("UTF8_LCASE")

    assert (folded, False) == concatenation([Column(STRING, False, "a"), Column(folded, False)])


def test_a_map_can_be_grouped_by_but_not_sorted_or_made_distinct():
    pairs = map_of(INT, STRING)

    assert group_refusal(pairs) is None
    assert not is_orderable(pairs)
    assert "EXPRESSION_TYPE_IS_NOT_ORDERABLE" == partition_refusal(pairs).condition
    assert "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE" == distinct_refusal(pairs).condition


def test_a_variant_deep_inside_can_be_grouped_by_no_more_than_one_at_the_top():
    deep = array(struct((StructField("v", VARIANT, True),)))

    assert "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE" == group_refusal(deep).condition
    assert "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE" == distinct_refusal(deep).condition


def test_a_calendar_interval_can_be_grouped_by_but_not_compared():
    refused = comparison("=", Column(CALENDAR_INTERVAL, False), Column(CALENDAR_INTERVAL, False))

    assert group_refusal(CALENDAR_INTERVAL) is None
    assert isinstance(refused, OperandMismatch)
    assert "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE" == refused.condition


def test_an_unknown_operand_is_passed_in_silence():
    unknown, number = Column(UNKNOWN, False), Column(DOUBLE, False)

    assert (BOOLEAN, True) == typed(comparison("<", unknown, number))
    assert (BOOLEAN, True) == typed(in_list(unknown, [number]))
    assert (BOOLEAN, True) == conjunction("AND", unknown, Column(BOOLEAN, False))
    assert (UNKNOWN, True) == concatenation([unknown, number])
    assert (UNKNOWN, True) == case_branches([unknown, number], has_else=True)


def test_the_recorded_table_covers_every_pair():
    answers = recorded_answers()

    assert len(answers.types) ** 2 == len(answers.about("operators", "="))
    assert (BOOLEAN, "0111") == answer_of(RULES["="], INT, INT)
