"""Lambda parameters and the results of higher-order functions are Spark's."""

from collections.abc import Callable

import pytest

from rocky.language.datatypes import types as t
from rocky.language.functions.operand import Operand, Refusal
from rocky.language.functions.special.higher_order import HIGHER_ORDER
from tests.language.functions.special_cases import answer, ask, load_cases, operand

Parameters = list[tuple[t.DataType, bool]]
NAMES = ("x", "j", "k")


def whole(parameters: Parameters) -> Operand:
    fields = zip(NAMES, parameters, strict=False)
    return Operand(t.struct(tuple(t.StructField(name, *part) for name, part in fields)), False)


# What a lambda's body is once its parameters are known.
BODIES: dict[str, Callable[[Parameters], Operand]] = {
    "x": lambda parameters: Operand(*parameters[0]),
    "j": lambda parameters: Operand(*parameters[1]),
    "true": lambda _: Operand(t.BOOLEAN, False, True, True),
    "NULL": lambda _: Operand(t.NULL, True, None, True),
    "x IS NULL": lambda _: Operand(t.BOOLEAN, False),
    "b": lambda _: Operand(t.BOOLEAN, True),
    "1": lambda _: Operand(t.INT, False, 1, True),
    "1L": lambda _: Operand(t.BIGINT, False, 1, True),
    "struct(x,j)": whole,
    "struct(x,j,k)": whole,
    "map(1,2)": lambda _: Operand(t.map_of(t.INT, t.INT, False), False),
}


def bind(name: str, args: list[str], lambdas: list[tuple[int, str]]) -> str:
    """The answer of a call whose lambdas are bound one after the other."""
    rule = HIGHER_ORDER[name]
    bound: list[Operand | None] = [*(operand(arg) for arg in args), *(None for _ in lambdas)]
    for place, (count, body) in enumerate(lambdas, len(args)):
        parameters = ask(rule.parameters, name, bound, place, count)
        if isinstance(parameters, Refusal):
            return answer(parameters)
        bound[place] = BODIES[body](parameters)
    return answer(ask(rule.typing, name, [arg for arg in bound if arg is not None]))


@pytest.mark.parametrize("name", sorted(load_cases()["lambdas"]))
def test_a_higher_order_function_types_as_spark_does(name):
    cases = load_cases()["lambdas"][name]
    expected = [(args, lambdas, result) for args, lambdas, result in cases]

    actual = [(args, lambdas, bind(name, args, lambdas)) for args, lambdas, _ in cases]

    assert expected == actual


def test_the_parameters_over_an_unknown_collection_are_unknown():
    unknown = Operand(t.UNKNOWN, True)

    assert [(t.UNKNOWN, True)] * 2 == HIGHER_ORDER["transform"].parameters(
        "transform", [unknown, None], 1, 2
    )
