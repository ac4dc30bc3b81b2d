"""Generators give the columns Spark gives them."""

import pytest

from rocky.language.datatypes import types as t
from rocky.language.functions.generators import GENERATORS
from rocky.language.functions.operand import Operand, Refusal
from tests.language.functions.special_cases import answer, ask, load_cases, operand


def columns(name: str, args: list[Operand]) -> list[list[str]] | str:
    found = ask(GENERATORS[name], name, args)
    if isinstance(found, Refusal):
        return answer(found)
    return [[label, answer((kind, nullable))] for label, kind, nullable in found]


@pytest.mark.parametrize("name", sorted(load_cases()["generators"]))
def test_a_generator_gives_the_columns_spark_gives(name):
    cases = load_cases()["generators"][name]
    expected = {f"{name}({', '.join(args)})": result for args, result in cases}

    actual = {
        f"{name}({', '.join(args)})": columns(name, [operand(arg) for arg in args])
        for args, _ in cases
    }

    assert expected == actual


def test_exploding_what_is_unknown_gives_an_unknown_column():
    assert [["col", "unknown"]] == columns("explode", [Operand(t.UNKNOWN, True)])
