"""`rocky playground`: a small project with data, to try things on."""

from pathlib import Path
from typing import Final

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import ProjectlessCommand, Settings
from rocky.operations.templates import PLAYGROUNDS, SHOP, write_playground

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
}


@click.command("playground", cls=ProjectlessCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--template",
    default=SHOP,
    metavar="NAME",
    help=f"What to make: {' or '.join(f'`{each}`' for each in PLAYGROUNDS)}. Default: `{SHOP}`.",
)
@click.pass_obj
def command(settings: Settings, folder: Path, template: str) -> ExitCode:
    """Make a small working project to try things on.

    FOLDER must be new or empty. `shop` is a graph of models; `replication` copies the tables of
    three tenants, whose data grows and goes wrong.
    """
    written = write_playground(template, folder)
    if settings.json:
        document = {"folder": folder.as_posix(), "template": template, "files": written}
        write_json("playground", document)
    elif not settings.quiet:
        write_line(f"{len(written)} files written to {folder}. Next:\n")
        for step in (f"cd {folder}", *_FIRST_STEPS[template]):
            write_line(f"  {step}")
    return ExitCode.OK
