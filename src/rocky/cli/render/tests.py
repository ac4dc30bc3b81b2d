"""What came of tests: a line each, and underneath the rows that differ or fail."""

from collections.abc import Iterator, Sequence
from typing import Final

from rocky.cli.render.tables import render_table
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import Texts
from rocky.diagnostics.render import counted, render_full
from rocky.operations.execution.test import DataTest, RowDifference, TestReport, UnitTest
from rocky.run.checks.outcomes import Cell, Row

_SHOWN: Final = 10
_WIDTH: Final = 40


def render_tests(report: TestReport, *, quiet: bool, title: str = "") -> str:
    """Every test in a line, and a last one with a title; with `quiet` only those that failed."""
    lines: list[str] = []
    for unit in report.unit_tests:
        if not (unit.passed and quiet):
            lines += [*_unit_lines(unit), *_place_lines(unit.finding, report.texts)]
    for assertion in report.data_tests:
        if not (assertion.passed and quiet):
            lines += [*_assertion_lines(assertion), *_place_lines(assertion.finding, report.texts)]
    found = report.summary
    said = [f"{found.failed} failed"] if found.failed else []
    said += [counted(found.warnings, "warning")] if found.warnings else []
    counts = ", ".join([*said, f"{found.passed} passed"])
    return "\n".join([*lines, f"{title}: {counts}" if title else counts])


def _unit_lines(unit: UnitTest) -> Iterator[str]:
    mark = "PASS" if unit.passed else "FAIL"
    said = f": {unit.error}" if unit.error else ""
    if not unit.passed and not unit.error:
        expected, found = counted(unit.expected_rows, "row"), counted(unit.found_rows, "row")
        said = f": expected {expected}, found {found}" if expected != found else ""
    yield f"{mark}  {unit.model}  unit test `{unit.name}`{said}"
    if unit.description and not unit.passed:
        yield from _indented(unit.description)
    if unit.differences:
        yield from _indented(_difference_table(unit))


def _place_lines(finding: Diagnostic | None, texts: Texts) -> Iterator[str]:
    """Why a test could not be run or answered, as a compile shows it."""
    return _indented(render_full([finding], texts).rstrip() if finding is not None else "")


def _difference_table(unit: UnitTest) -> str:
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


def _marked(row: Row, difference: RowDifference) -> list[str]:
    return [
        f"[{_cell(cell)}]" if index in difference.cells else _cell(cell)
        for index, cell in enumerate(row)
    ]


def _assertion_lines(outcome: DataTest) -> Iterator[str]:
    mark = "PASS" if outcome.passed else ("FAIL" if outcome.severity == "error" else "WARN")
    source = "source " if outcome.subject == "source" else ""
    yield f"{mark}  {source}{outcome.model}  {outcome.name}{_said(outcome)}"
    if outcome.description and not outcome.passed:
        yield from _indented(outcome.description)
    if outcome.sample.rows:
        rows = [[_cell(cell) for cell in row] for row in outcome.sample.rows]
        yield from _indented(render_table(outcome.sample.columns, rows, set()))


def _said(outcome: DataTest) -> str:
    if outcome.passed:
        return ""
    if outcome.failing_rows is not None:
        said = f": {counted(outcome.failing_rows, 'failing row')}"
        return f"{said} ({outcome.error})" if outcome.error else said
    if outcome.error is not None:
        return f": could not be answered, {outcome.error}"
    expected = f", expected {outcome.expected}" if outcome.expected else ""
    return f": found {outcome.observed}{expected}"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    shown = cell.replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 1]}…"


def _indented(text: str) -> Iterator[str]:
    return (f"      {line}" for line in text.splitlines())
