"""`rocky mcp`: the project for assistants, over standard input and output."""

import sys
from typing import Final

import click

from rocky.cli.commands.ui import UiCommand
from rocky.cli.console import ExitCode, write_line
from rocky.cli.options import Settings
from rocky.web.mcp import Assistant

REPORTS: Final[dict[str, type]] = {}


@click.command(
    "mcp",
    cls=UiCommand,
    examples=(("rocky mcp", "started by an assistant, in the project's folder"),),
)
@click.pass_obj
def command(settings: Settings) -> ExitCode:
    """Answer assistants that speak the Model Context Protocol, on standard input and output.

    They can ask for lineage, types, whether a query compiles, why a model would be built and what a
    change reaches. Nothing is run or changed, and no value of any table is shown.
    """
    # A byte that is not UTF-8 is a mistake in one message and not the end of all.
    lines = (line.decode("utf-8", "replace") for line in sys.stdin.buffer)
    Assistant(settings.workspace).converse(lines, write_line)
    return ExitCode.OK
