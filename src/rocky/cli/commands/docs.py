"""`rocky docs`: a static site of the whole project."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.diagnostics.render import counted
from rocky.operations.page.docs import DocsReport, DocsRequest, docs

REPORTS: Final = {"docs": DocsReport}


class DocsCommand(RockyCommand):
    """A command that shows what was recorded, and keeps nothing."""

    uses_state = True
    takes_branch = True


@click.command(
    "docs",
    cls=DocsCommand,
    examples=(
        ("rocky docs", "write the site into target/docs"),
        ("rocky docs --out public", "into another folder, for a web server"),
        ("rocky docs --branch review", "with the runs of a branch"),
    ),
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to write; an earlier site in it is replaced. Default: target/docs.",
)
@click.pass_obj
def command(settings: Settings, out: Path | None) -> ExitCode:
    """Write a static site of the project: models, columns, lineage, tests and runs.

    It is one folder that opens from the disk, with no server, and holds no rows of any table. A
    project with errors has a site too, which shows them.
    """
    report = docs(settings.workspace, DocsRequest(out))
    if settings.json:
        write_report("docs", report)
    elif not settings.quiet:
        write_line(f"{_counts(report)}; open {report.start}")
    if report.errors and not settings.quiet:
        count = counted(report.errors, "error")
        write_note(f"note: {count} in the project, which the site shows")
    return ExitCode.OK


def _counts(report: DocsReport) -> str:
    numbers = {"model": report.models, "source": report.sources, "seed": report.seeds}
    if report.tables:
        numbers["pipeline table"] = report.tables
    return ", ".join(counted(number, noun) for noun, number in numbers.items())
