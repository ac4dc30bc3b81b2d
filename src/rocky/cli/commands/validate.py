"""`rocky validate`: the project's files, without a look into SQL."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report, write_text
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.findings import render_findings
from rocky.diagnostics.render import counted, render_summary
from rocky.operations.check.validate import ValidateReport, validate

REPORTS: Final = {"validate": ValidateReport}


@click.command("validate", cls=RockyCommand)
@click.pass_obj
def command(settings: Settings) -> ExitCode:
    """Check the project's files, without looking into SQL."""
    report = validate(settings.workspace)
    if settings.json:
        write_report("validate", report)
    else:
        write_text(render_findings(report.found, report.project, "full", colour=settings.colour))
        if not settings.quiet:
            write_line(render_validation(report))
    return ExitCode.OK if report.valid else ExitCode.FAILED


def render_validation(report: ValidateReport) -> str:
    """How many findings, in how many files of each kind."""
    found = render_summary(report.found, 0).partition(" in ")[0]
    parts = (
        counted(report.models, "model"),
        counted(report.sources, "source"),
        counted(report.seeds, "seed"),
        counted(report.contracts, "contract"),
    )
    return f"{found} in the files of {', '.join(parts)}"
