"""`rocky check-python`: what the code of Python models gives, found by building its plan."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report, write_text
from rocky.cli.options import RockyCommand, Settings, format_option, use_json
from rocky.cli.render.findings import FORMATS, render_findings
from rocky.diagnostics.render import counted
from rocky.operations.check.check_python import (
    SECONDS,
    CheckedPythonModel,
    CheckPythonReport,
    CheckPythonRequest,
    check_python,
)

REPORTS: Final = {"check-python": CheckPythonReport}


@click.command("check-python", cls=RockyCommand)
@click.argument("models", nargs=-1, metavar="[MODEL | FILE.py::FUNCTION]...")
@click.option(
    "--seconds",
    type=click.IntRange(min=1),
    default=SECONDS,
    show_default=True,
    metavar="N",
    help="How long each model may take.",
)
@click.option(
    "--schemas",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A TOML file with the tables that functions of files read. Default: the project's.",
)
@format_option(FORMATS, "The format of findings. Default: full.")
@click.pass_obj
def command(
    settings: Settings,
    models: tuple[str, ...],
    seconds: int,
    schemas: Path | None,
    style: str | None,
) -> ExitCode:
    """Check the code of Python models, without Spark.

    Runs their Python in a process apart, which may neither connect nor write, to see the plan that
    it builds: columns, types, lineage, mistakes at their lines, and whether `output` is right.

    `jobs/*.py::enrich` names a function of any file, which needs no project: a parameter gets the
    table of its name, and one called `spark` the session. Without `::FUNCTION`, every function that
    says it returns a DataFrame is checked, and one with a parameter that has neither a table nor a
    default is skipped with a warning.
    """
    as_json = use_json(settings, style)
    report = check_python(settings.workspace, CheckPythonRequest(models, seconds, schemas))
    if as_json:
        write_report("check-python", report)
    else:
        write_text(
            render_findings(report.found, report.project, style or "full", colour=settings.colour)
        )
        if not settings.quiet:
            for each in report.models:
                write_text(_described(each))
            what = "Python model" if report.of_models else "function"
            errors = sum(each.severity == "error" for each in report.found)
            write_line(
                f"{counted(errors, 'error') if errors else 'no errors'} in"
                f" {counted(len(report.models), what)}"
                + (f", {len(report.skipped)} skipped" if report.skipped else "")
            )
    return ExitCode.FAILED if report.has_errors else ExitCode.OK


def _described(model: CheckedPythonModel) -> str:
    """The columns of a model, one a line, with what each is made from."""
    if not model.columns:
        return f"{model.name}: columns unknown\n"
    lines = [f"{model.name}:"]
    width = max(len(each.name) for each in model.columns)
    for each in model.columns:
        kind = each.type if each.nullable else f"{each.type} not null"
        origins = ", ".join(f"{source.table}.{source.column}" for source in each.sources)
        lines.append(f"  {each.name:<{width}}  {kind}" + (f"  from {origins}" if origins else ""))
    return "\n".join(lines) + "\n"
