"""`rocky init` and `rocky playground`: projects to start from, and to try things on."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import ProjectlessCommand, Settings
from rocky.operations.migration.template import (
    PLAYGROUNDS,
    SHOP,
    InitReport,
    InitRequest,
    PlaygroundReport,
    PlaygroundRequest,
    init,
    playground,
)

REPORTS: Final = {"init": InitReport, "playground": PlaygroundReport}
_FIRST_STEPS: Final = {
    SHOP: (
        "rocky compile",
        "rocky lineage fct_revenue.amount",
        "less README.md      # has mistakes to make on purpose",
    ),
    "replication": (
        "python feed.py day1",
        "rocky run",
        "less README.md      # has five days of growth, accidents and drift",
    ),
    "python": (
        "rocky compile",
        "rocky lineage country_scores.score",
        "less README.md      # has mistakes to make on purpose",
    ),
}


@click.command("init", cls=ProjectlessCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.pass_obj
def command(settings: Settings, folder: Path) -> ExitCode:
    """Start a project in FOLDER.

    FOLDER is the current folder unless given. Existing files are not changed.
    """
    report = init(InitRequest(folder))
    if settings.json:
        write_report("init", report)
    elif not settings.quiet:
        for path in report.files:
            write_line(f"wrote {folder / path}")
        where = "" if folder == Path() else f"cd {folder} && "
        write_line(f"next: {where}rocky compile")
    return ExitCode.OK


@click.command("playground", cls=ProjectlessCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--template",
    default=SHOP,
    metavar="NAME",
    help=f"What to make: {', '.join(f'`{each}`' for each in PLAYGROUNDS)}. Default: `{SHOP}`.",
)
@click.pass_obj
def playground_command(settings: Settings, folder: Path, template: str) -> ExitCode:
    """Make a small working project to try things on.

    FOLDER must be new or empty. `shop` is a graph of models; `replication` copies the tables of
    three tenants, whose data grows and goes wrong; `python` has a model that is DataFrame code.
    """
    report = playground(PlaygroundRequest(folder, template))
    if settings.json:
        write_report("playground", report)
    elif not settings.quiet:
        write_line(f"{len(report.files)} files written to {folder}. Next:\n")
        for step in (f"cd {folder}", *_FIRST_STEPS[template]):
            write_line(f"  {step}")
    return ExitCode.OK
