"""The outcome of tests: a line each, what fails underneath, and a JSON document."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.run.checks.outcomes import (
    AssertionOutcome,
    Cell,
    ChecksReport,
    Difference,
    Row,
    UnitOutcome,
)

_SHOWN: Final = 10
_WIDTH: Final = 40


def render_tests(report: ChecksReport, *, quiet: bool) -> str:
    """Every test in a line; with `quiet` only those that failed."""
    lines: list[str] = []
    for unit in report.units:
        if not (unit.passed and quiet):
            lines += _unit_lines(unit)
    for assertion in report.assertions:
        if not (assertion.passed and quiet):
            lines += _assertion_lines(assertion)
    return "\n".join([*lines, render_counts(report)])


def render_counts(report: ChecksReport) -> str:
    said = [f"{report.failed} failed"] if report.failed else []
    said += [counted(report.warnings, "warning")] if report.warnings else []
    return ", ".join([*said, f"{report.passed} passed"])


def checks_document(report: ChecksReport) -> dict[str, Any]:
    """What `rocky test -o json` prints."""
    return {
        "passed": report.failed == 0,
        "unit_tests": [_unit_document(each) for each in report.units],
        "data_tests": [_assertion_document(each) for each in report.assertions],
        "summary": {
            "passed": report.passed,
            "failed": report.failed,
            "warnings": report.warnings,
        },
    }


def _unit_lines(unit: UnitOutcome) -> Iterator[str]:
    mark = "PASS" if unit.passed else "FAIL"
    said = f": {unit.error}" if unit.error else ""
    if not unit.passed and not unit.error:
        expected, found = counted(unit.expected_rows, "row"), counted(unit.found_rows, "row")
        said = f": expected {expected}, found {found}" if expected != found else ""
    yield f"{mark}  {unit.model}  unit test `{unit.name}`{said}"
    if unit.differences:
        yield from _indented(_difference_table(unit))


def _difference_table(unit: UnitOutcome) -> str:
    """Expected rows with `-`, found ones with `+`, cells that differ in brackets."""
    rows: list[Sequence[str]] = []
    for each in unit.differences[:_SHOWN]:
        rows += [
            (sign, *_marked(row, each))
            for sign, row in (("-", each.expected), ("+", each.found))
            if row is not None
        ]
    table = render_table(("", *unit.columns), rows, set())
    rest = len(unit.differences) - _SHOWN
    legend = "- expected, + found; [ ] marks the cells that differ"
    more = f"\nand {counted(rest, 'more difference')}" if rest > 0 else ""
    return f"{table}{more}\n{legend}"


def _marked(row: Row, difference: Difference) -> list[str]:
    return [
        f"[{_cell(cell)}]" if index in difference.cells else _cell(cell)
        for index, cell in enumerate(row)
    ]


def _assertion_lines(outcome: AssertionOutcome) -> Iterator[str]:
    mark = "PASS" if outcome.passed else ("FAIL" if outcome.severity == "error" else "WARN")
    yield f"{mark}  {outcome.model}  {outcome.name}{_said(outcome)}"
    if outcome.sample:
        rows = [[_cell(cell) for cell in row] for row in outcome.sample]
        yield from _indented(render_table(outcome.sample_columns, rows, set()))


def _said(outcome: AssertionOutcome) -> str:
    if outcome.passed:
        return ""
    if outcome.failing_rows is not None:
        said = f": {counted(outcome.failing_rows, 'failing row')}"
        return f"{said} ({outcome.error})" if outcome.error else said
    if outcome.error is not None:
        return f": could not be answered, {outcome.error}"
    return f": found {outcome.observed}"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    shown = cell.replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 1]}…"


def _indented(text: str) -> Iterator[str]:
    return (f"      {line}" for line in text.splitlines())


def _unit_document(unit: UnitOutcome) -> dict[str, Any]:
    return {
        "model": unit.model,
        "name": unit.name,
        "passed": unit.passed,
        "error": unit.error,
        "ordered": unit.ordered,
        "columns": list(unit.columns),
        "expected_rows": unit.expected_rows,
        "found_rows": unit.found_rows,
        "differences": [
            {
                "expected": _row(each.expected),
                "found": _row(each.found),
                "columns": [unit.columns[index] for index in each.cells],
            }
            for each in unit.differences
        ],
    }


def _assertion_document(outcome: AssertionOutcome) -> dict[str, Any]:
    return {
        "model": outcome.model,
        "name": outcome.name,
        "type": outcome.type,
        "column": outcome.column,
        "severity": outcome.severity,
        "passed": outcome.passed,
        "failing_rows": outcome.failing_rows,
        "observed": outcome.observed,
        "error": outcome.error,
        "sample": {
            "columns": list(outcome.sample_columns),
            "rows": [list(row) for row in outcome.sample],
        },
    }


def _row(row: Row | None) -> list[Cell] | None:
    return list(row) if row is not None else None
