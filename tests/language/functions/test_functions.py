import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    array,
    decimal,
    map_of,
    string,
    varchar,
)
from rocky.language.functions.catalogue import FunctionInfo, all_names, find_function, type_call
from rocky.language.functions.operand import Operand, Refusal, Typing
from tests.language.functions.special_cases import ask


def function(name: str) -> FunctionInfo:
    found = find_function(name)
    assert found is not None
    return found


def call(name: str, *types: object, nullable: bool = False) -> Typing | Refusal:
    operands = [
        each if isinstance(each, Operand) else Operand(each, nullable or each is NULL)
        for each in types
    ]
    return ask(type_call, function(name), operands)


def refused(name: str, *types: object) -> tuple[str, int | None]:
    found = call(name, *types)
    assert isinstance(found, Refusal)
    return found.condition, found.argument


@pytest.mark.parametrize(
    ("name", "kind", "deterministic"),
    [
        ("upper", "scalar", True),
        ("rand", "scalar", False),
        ("sum", "aggregate", True),
        ("row_number", "window", True),
        ("explode", "generator", True),
        ("range", "table", True),
    ],
)
def test_spark_says_what_a_function_is(name, kind, deterministic):
    found = function(name)

    assert (kind, deterministic) == (found.kind, found.deterministic)


def test_no_function_goes_by_an_unknown_name():
    assert find_function("no_such_function") is None


def test_names_are_sorted_and_hold_no_operators():
    names = all_names()

    assert sorted(names) == list(names)
    assert {"upper", "sum", "array_append"} <= set(names)
    assert "<=>" not in names


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("upper", [STRING], (STRING, False)),
        ("length", [STRING], (INT, False)),
        ("year", [DATE], (INT, False)),
        ("date_add", [DATE, INT], (DATE, False)),
        ("sqrt", [INT], (DOUBLE, True)),
        ("substring", [STRING, INT, INT], (STRING, False)),
        ("substring", [BINARY, INT, INT], (BINARY, False)),
        ("size", [array(INT)], (INT, False)),
        ("count", [INT], (BIGINT, False)),
        ("sum", [decimal(12, 2)], (decimal(22, 2), True)),
        ("sum", [INT], (BIGINT, True)),
        ("avg", [decimal(12, 2)], (decimal(16, 6), True)),
        ("max", [array(DATE)], (array(DATE), True)),
        ("row_number", [], (INT, False)),
        ("map_keys", [map_of(STRING, INT)], (array(STRING), False)),
        ("collect_list", [DOUBLE], (array(DOUBLE, False), False)),
    ],
)
def test_a_call_gives_the_type_and_nullability_spark_gives(name, types, expected):
    assert expected == call(name, *types)


def test_a_nullable_argument_makes_the_result_nullable():
    assert (STRING, True) == call("upper", STRING, nullable=True)


def test_an_implicit_cast_from_string_makes_the_result_nullable():
    assert (INT, False) == call("year", DATE)
    assert (INT, True) == call("year", STRING)


def test_varchar_is_read_as_string():
    assert (STRING, False) == call("upper", varchar(10))


def test_a_collation_is_kept_by_functions_that_keep_it():
    collated = string("UTF8_LCASE")

    assert (collated, False) == call("upper", collated)


def test_an_array_of_no_class_behaves_like_one_that_has_a_class():
    assert (array(DATE), False) == call("array_distinct", array(DATE))
    assert (parse_type("boolean"), True) == call("array_contains", array(TIMESTAMP), TIMESTAMP)


def test_a_wrong_number_of_arguments_is_refused_with_the_counts_that_are_right():
    found = call("upper", STRING, STRING)

    assert isinstance(found, Refusal)
    assert found.condition == "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"
    assert found.message == "`upper` takes 1 argument, not 2"


def test_a_refused_type_is_refused_with_sparks_condition_and_place():
    assert ("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", 0) == refused("year", INT)
    assert ("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", 1) == refused("date_add", DATE, DATE)


def test_a_refusal_says_what_is_wanted_and_what_is_there():
    found = call("date_add", DATE, DATE)

    assert isinstance(found, Refusal)
    assert found.message == (
        "the second argument of `date_add` must be `int` or `smallint` or `tinyint`, not `date`"
    )


def test_a_column_where_spark_wants_a_constant_is_refused():
    column, constant = Operand(STRING, False), Operand(STRING, False, "//a", True)

    assert ("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", 1) == refused("xpath", column, column)
    assert (array(STRING), True) == call("xpath", column, constant)


def test_an_unknown_argument_never_refuses_and_keeps_a_fixed_result():
    assert (INT, True) == call("year", UNKNOWN, nullable=True)
    assert (UNKNOWN, True) == call("max", UNKNOWN)
    assert (BIGINT, False) == call("count", UNKNOWN)


def test_a_call_longer_than_any_asked_follows_its_last_argument():
    assert (INT, False) == call("hash", *[STRING] * 9)


def test_importing_the_catalogue_does_not_read_it(repository):
    script = "import gzip, rocky.language.functions.catalogue as f; assert not f._load_catalogue.cache_info()[3]"

    assert "" == _errors_of(script, repository / "src")


def _errors_of(script: str, source: Path) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(source)!r}); {script}"],
        check=False,
        capture_output=True,
        text=True,
    )
    return ran.stderr


def test_a_repeated_call_is_answered_from_memory():
    info, operands = function("substring"), [Operand(STRING, False), Operand(INT, False)]
    type_call(info, operands)
    begun = time.perf_counter()
    for _ in range(10_000):
        type_call(info, operands)
    spent = (time.perf_counter() - begun) / 10_000

    # Ten times what it takes on an idle machine: the memory failing costs a hundred times.
    assert spent < 30e-6
