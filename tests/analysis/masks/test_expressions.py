"""Masks as SQL: which fit a type, what is said of those that do not, and what a text means."""

import pytest

from rocky.analysis.masks.check import check_expression, check_own
from rocky.analysis.masks.expressions import Unmaskable, mask_expression
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import UNKNOWN, StructField
from rocky.project.configuration.masks import MaskError, parse_strategy


def expression(strategy, kind, path="", *, nullable=True):
    column = StructField("c", parse_type(kind), nullable)
    return mask_expression(parse_strategy(strategy), column, path)


@pytest.mark.parametrize(
    ("strategy", "kind", "said", "fits"),
    [
        ("hash", "int", "no room for a hash", "cast it to `bigint`"),
        ("hash", "date", "no room for a hash", "date_trunc"),
        ("hash", "string collate UTF8_LCASE", "different hashes", "redact"),
        ("hash", "varchar(20)", "64 characters", "string"),
        ("hash", "array<array<string>>", "arrays of arrays", "redact"),
        ("partial", "date", "masks texts", "date_trunc"),
        ("date_trunc(day)", "date", "hides nothing", "date_trunc(month)"),
        ("date_trunc(year)", "string", "cuts dates", "hash"),
        ("bucket(10)", "string", "is for numbers", "partial"),
        ("bucket(200)", "tinyint", "wider than", "redact"),
        ("truncate(2)", "map<string,string>", "would show its keys", "redact"),
        ("redact", "variant", "stands for a hidden one", "null"),
        ("redact", "unknown", "not known", "declare it"),
    ],
)
def test_a_mask_that_does_not_fit_says_what_would(strategy, kind, said, fits):
    type_ = UNKNOWN if kind == "unknown" else parse_type(kind)
    with pytest.raises(Unmaskable) as refused:
        mask_expression(parse_strategy(strategy), StructField("c", type_, True))
    assert said in str(refused.value)
    assert fits in refused.value.help


def test_null_is_refused_where_a_value_must_be():
    with pytest.raises(Unmaskable, match="NOT NULL"):
        expression("null", "string", nullable=False)
    with pytest.raises(Unmaskable, match="NOT NULL"):
        expression("null", "struct<a:string not null>", "a")


def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(Unmaskable, match="has no field `b`"):
        expression("redact", "struct<a:string>", "b")
    with pytest.raises(Unmaskable, match="no field of a `string`"):
        expression("redact", "string", "b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hsah", "no mask `hsah`"),
        ("hash(3)", "takes nothing"),
        ("truncate", "needs a number"),
        ("bucket(0)", "needs a number"),
        ("date_trunc(century)", "needs a unit"),
        ("sql()", "needs an expression"),
        ("", "no mask"),
    ],
)
def test_a_text_that_is_no_strategy_is_refused(text, said):
    with pytest.raises(MaskError, match=said.replace("(", r"\(")):
        parse_strategy(text)


def test_a_misspelt_strategy_is_suggested():
    with pytest.raises(MaskError) as refused:
        parse_strategy("redcat")
    assert "`redact`" in refused.value.help


def test_an_expression_of_ones_own_must_be_one():
    assert check_own(parse_strategy("sql(left(value, 1))")) is None
    assert check_own(parse_strategy("sql(value), (1)")) is not None
    assert check_own(parse_strategy("sql(left(value)")) is not None
    assert check_own(parse_strategy("sql(value) AS x, (1)")) is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sql(length(value))", "gives a `int`"),
        ("sql(uuid())", "another value each time"),
        ("sql((SELECT max(x) FROM secrets))", "secrets"),
        ("sql(no_such(value))", "no_such"),
        ("sql(concat(valu, '~'))", "valu"),
    ],
)
def test_an_expression_of_ones_own_is_checked_by_the_compiler(text, said):
    column = StructField("c", parse_type("string"), nullable=True)
    found = check_expression(mask_expression(parse_strategy(text), column), column)
    assert any(said in each for each in found), found


def test_hash_and_partial_are_not_applied_twice_and_the_coarse_ones_may_be():
    twice = {
        text: parse_strategy(text).idempotent
        for text in ("hash", "sha2", "partial", "sql(value)", "redact", "bucket(5)", "truncate(2)")
    }
    assert {each for each, fine in twice.items() if fine} == {"redact", "bucket(5)", "truncate(2)"}
