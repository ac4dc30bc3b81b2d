"""`rocky playground`: a small shop with data, to try things on."""

from pathlib import Path

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import ProjectlessCommand, Settings
from rocky.cli.templates import PLAYGROUND, write_template


@click.command("playground", cls=ProjectlessCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.pass_obj
def command(settings: Settings, folder: Path) -> ExitCode:
    """Make a small working shop to try things on.

    FOLDER must be new or empty.
    """
    written = write_template(PLAYGROUND, folder)
    if settings.json:
        write_json("playground", {"folder": folder.as_posix(), "files": written})
    elif not settings.quiet:
        write_line(f"{len(written)} files written to {folder}. Next:\n")
        write_line(f"  cd {folder}\n  rocky compile")
        write_line("  rocky lineage fct_revenue.revenue")
        write_line("  less README.md      # has mistakes to make on purpose")
    return ExitCode.OK
