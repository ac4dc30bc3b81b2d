"""`rocky init`: the smallest useful project.

In a folder that already has models only the settings are written, so that an existing pile
of SQL can be adopted where it lies.
"""

from pathlib import Path

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import ProjectlessCommand, Settings
from rocky.operations.templates import write_starter


@click.command("init", cls=ProjectlessCommand)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.pass_obj
def command(settings: Settings, folder: Path) -> ExitCode:
    """Start a project in FOLDER.

    Here when FOLDER is left out. No file that exists is touched.
    """
    written = write_starter(folder)
    if settings.json:
        write_json("init", {"folder": folder.as_posix(), "files": written})
    elif not settings.quiet:
        for path in written:
            write_line(f"wrote {folder / path}")
        where = "" if folder == Path() else f"cd {folder} && "
        write_line(f"next: {where}rocky compile")
    return ExitCode.OK
