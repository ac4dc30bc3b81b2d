"""`rocky test` without Spark: what is refused or has nothing to do; rendering of outcomes."""

from rocky.cli.commands.test import render_tests
from rocky.cli.console import ExitCode
from rocky.operations.execution import test as operation
from rocky.operations.report import encode_report
from rocky.run.checks.outcomes import AssertionOutcome, ChecksReport, Difference, UnitOutcome
from tests.cli.test_schemas import check

MODELS = {"models/a.sql": "SELECT order_id, amount FROM raw.orders\n"}

REPORT = operation.report_tests(
    ChecksReport(
        (
            UnitOutcome(
                "fct", "adds up", passed=True, columns=("id",), expected_rows=1, found_rows=1
            ),
            UnitOutcome(
                "fct",
                "refunds",
                passed=False,
                columns=("id", "revenue"),
                expected_rows=2,
                found_rows=3,
                differences=(
                    Difference(("1", "7.50"), ("1", "12.50"), (1,)),
                    Difference(("2", None), None),
                    Difference(None, ("3", "a\nb")),
                ),
            ),
            UnitOutcome(
                "fct",
                "typo",
                passed=False,
                error="there is no column `amuont`",
                description="as booked",
            ),
        ),
        (
            AssertionOutcome(
                "fct", "not_null:id", "not_null", "error", passed=True, failing_rows=0
            ),
            AssertionOutcome(
                "fct",
                "unique:id",
                "unique",
                "error",
                passed=False,
                failing_rows=4,
                description="one row an order",
                sample_columns=("id", "rows"),
                sample=(("7", "4"),),
            ),
            AssertionOutcome(
                "fct", "rows", "row_count_range", "warning", passed=False, observed="0"
            ),
            AssertionOutcome(
                "fct", "sane", "expression", "error", passed=False, error="no function"
            ),
        ),
    ),
    1,
)


def test_every_outcome_is_a_line_and_what_differs_is_under_it():
    assert """\
PASS  fct  unit test `adds up`
FAIL  fct  unit test `refunds`: expected 2 rows, found 3 rows
         id  revenue
      -  1   [7.50]
      +  1   [12.50]
      -  2   NULL
      +  3   a\\nb
      - expected, + found; [ ] marks the cells that differ
FAIL  fct  unit test `typo`: there is no column `amuont`
      as booked
PASS  fct  not_null:id
FAIL  fct  unique:id: 4 failing rows
      one row an order
      id  rows
      7   4
WARN  fct  rows: found 0
FAIL  fct  sane: could not be answered, no function
4 failed, 1 warning, 2 passed""" == render_tests(REPORT, quiet=False)


def test_quiet_leaves_out_what_passed():
    assert not any(line.startswith("PASS") for line in render_tests(REPORT, quiet=True).split("\n"))


def test_the_document_fits_its_schema():
    document = {"version": "0", "command": "test", **encode_report(REPORT)}

    assert [] == check(document, "test")


def test_models_without_tests_are_no_failure(rocky, write):
    write(MODELS)
    answer = rocky("test", "-o", "table")

    assert (ExitCode.OK, "") == (answer.code, answer.out)
    assert "note: 1 model selected, none of them has tests\n" == answer.err


def test_an_empty_document_fits_the_schema(rocky, write):
    write(MODELS)

    assert [] == check(rocky("test").json, "test")


def test_the_note_says_which_kind_is_missing(rocky, write):
    write({**MODELS, "models/a.toml": "[[tests]]\ntype = 'not_null'\ncolumn = 'order_id'\n"})

    assert "none of them has unit tests" in rocky("test", "--unit").err


def test_a_selector_that_matches_nothing_is_an_error(rocky, write):
    write(MODELS)
    answer = rocky("test", "b", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "no model `b`; did you mean `a`?" in answer.err


def test_nothing_is_tested_when_the_selection_does_not_compile(rocky, write):
    write({"models/a.sql": "SELECT nope FROM raw.orders\n"})
    answer = rocky("test", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "error[E003 unknown-column]" in answer.err
    assert "error: 1 error: nothing was tested" in answer.err


def test_a_variable_is_passed_to_the_query(rocky, write):
    write({"models/a.sql": "SELECT @var(n) AS n\n"})

    assert ExitCode.FAILED == rocky("test").code
    assert ExitCode.OK == rocky("test", "--var", "n=1").code
