"""`rocky test`: unit tests of models and assertions on their tables, on Spark."""

from collections.abc import Sequence
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings, TableCommand
from rocky.cli.render.tests import render_tests
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.execution.test import TestReport, TestRequest, test

REPORTS: Final = {"test": TestReport}


@click.command(
    "test",
    cls=TableCommand,
    examples=(
        ("rocky test", "all tests of all models"),
        ("rocky test fct_revenue --unit", "the unit tests of a model: no tables"),
        ("rocky test path:models/marts --data", "the assertions on the tables of a folder"),
    ),
)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option("--model", "models", multiple=True, metavar="SELECTOR", help="Test these models.")
@click.option("--unit", is_flag=True, help="Only unit tests: rows in, rows out, no tables.")
@click.option("--data", is_flag=True, help="Only assertions on the built tables.")
@click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings,
    selectors: Sequence[str],
    models: Sequence[str],
    unit: bool,
    data: bool,
    target: str | None,
) -> ExitCode:
    """Run the tests of the selected models, or of all.

    Unit tests give a model rows and compare what its query makes of them; data tests look at the
    tables that are built. Exit 1 when one of severity `error` fails.
    """
    with note_start(settings) as workspace:
        report = test(workspace, TestRequest((*selectors, *models), unit, data, target))
    has_tests = report.unit_tests or report.data_tests
    if not has_tests and not settings.quiet:
        kind = "tests" if unit == data else "unit tests" if unit else "data tests"
        write_note(f"note: {counted(report.selected, 'model')} selected, none of them has {kind}")
    if settings.json:
        write_report("test", report)
    elif has_tests:
        write_line(render_tests(report, quiet=settings.quiet))
    if report.summary.warnings and report.passed and not settings.quiet:
        write_note("note: warnings do not fail the tests")
    return ExitCode.OK if report.passed else ExitCode.FAILED
