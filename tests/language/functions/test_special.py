"""Special functions answer as Spark does, on a sample of calls whose answers Spark gave."""

from rocky.language.datatypes import types as t
from rocky.language.functions.operand import Operand, Refusal
from rocky.language.functions.special import SPECIAL
from tests.language.functions.special_cases import answer, ask, load_cases, operand

CALLS = [
    (function.removesuffix(" over"), args, result)
    for function, calls in sorted(load_cases()["calls"].items())
    for args, result in calls
]


def test_a_special_function_types_as_spark_does():
    different = {}
    for name, args, expected in CALLS:
        actual = answer(ask(SPECIAL[name], name, [operand(arg) for arg in args]))
        if expected != actual:
            different[f"{name}({', '.join(args)})"] = (expected, actual)

    assert {} == different


def test_an_unknown_argument_never_makes_a_good_call_refused():
    refused = []
    for name, args, result in CALLS:
        if result.startswith("refused"):
            continue
        operands = [operand(arg) for arg in args]
        for place in range(len(operands)):
            blurred = [*operands]
            blurred[place] = Operand(t.UNKNOWN, True)
            if isinstance(ask(SPECIAL[name], name, blurred), Refusal):
                refused.append((name, args, place))

    assert [] == refused


def test_a_refusal_names_the_argument_at_fault():
    refusal = ask(SPECIAL["sum"], "sum", [Operand(t.BOOLEAN, True)])

    assert isinstance(refusal, Refusal)
    assert (
        0,
        "argument 1 of `sum` must be numeric, a year-month interval or a day-time interval, but it is `boolean`",
    ) == (
        refusal.argument,
        refusal.message,
    )


def test_struct_fields_take_column_names_and_places():
    fields = [Operand(t.INT, False, name="id"), Operand(t.STRING, True)]

    assert "struct<id:int !,col2:string> not null" == answer(SPECIAL["struct"]("struct", fields))
