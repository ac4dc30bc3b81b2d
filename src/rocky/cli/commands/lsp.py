"""`rocky lsp`: the language server, for editors to start."""

import sys
from typing import Final

import click

from rocky.cli.console import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.lsp.server import serve

REPORTS: Final[dict[str, type]] = {}
"""What it says is a protocol of others."""


@click.command(
    "lsp",
    cls=RockyCommand,
    examples=(("rocky lsp", "what an editor's settings start, in the project's folder"),),
)
@click.pass_obj
def command(settings: Settings) -> ExitCode:
    """Serve an editor: findings while you type, completion, rename.

    It speaks the language server protocol over its standard input and output, and nothing else:
    editors start it. The project is the one of the folder that the editor has open.
    """
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    # Whatever else might print shall not end up between two messages.
    sys.stdout = sys.stderr
    return ExitCode(serve(settings.workspace, incoming, outgoing))
