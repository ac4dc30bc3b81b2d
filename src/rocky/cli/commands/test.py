"""`rocky test`: unit tests of models and assertions on their tables, on Spark.

Nothing is built. A table that was never built fails its assertions: it has not been shown to hold
what it should.
"""

import os
from collections.abc import Sequence

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, TableCommand
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.cli.render.tests import checks_document, render_tests
from rocky.errors import RunRefused
from rocky.lazy import load_attribute
from rocky.operations.workspace import compile_workspace
from rocky.plan.refusals import refusing_findings
from rocky.plan.selectors import select_models
from rocky.plan.steps import RunPlan, plan_steps
from rocky.run.checks.outcomes import CheckSelection, ChecksReport, models_with_tests


@click.command("test", cls=TableCommand)
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
    compilation = compile_workspace(settings.workspace)
    keys = select_models(compilation, (*selectors, *models))
    plan = plan_steps(compilation, keys)
    _refuse_errors(settings, plan)
    wanted = CheckSelection(unit=unit or not data, data=data or not unit, adapter=target)
    report = ChecksReport()
    if models_with_tests(plan, wanted):
        check = load_attribute("rocky.run.checks.suite", "check_models")
        report = check(plan, wanted, os.environ)
    elif not settings.quiet:
        kind = "tests" if wanted.unit and wanted.data else "unit tests" if unit else "data tests"
        write_note(f"note: {counted(len(keys), 'model')} selected, none of them has {kind}")
    if settings.json:
        write_json("test", checks_document(report))
    elif report.units or report.assertions:
        write_line(render_tests(report, quiet=settings.quiet))
    if report.warnings and not report.failed and not settings.quiet:
        write_note("note: warnings do not fail the tests")
    return ExitCode.FAILED if report.failed else ExitCode.OK


def _refuse_errors(settings: Settings, plan: RunPlan) -> None:
    """Types further up are guesses when something does not compile: nothing is tested then."""
    errors = refusing_findings(plan)
    if errors:
        project = plan.project
        write_note(render_findings(errors, project, "full", colour=settings.colour).rstrip())
        raise RunRefused(f"{counted(len(errors), 'error')}: nothing was tested")
