"""`rocky branch show`: a branch, table by table, beside production. Needs no Spark."""

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.branches import render_view, view_document
from rocky.operations.branch.lookup import find_branch, open_view
from rocky.operations.workspace import load_workspace


@click.command("show", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def command(settings: Settings, name: str) -> ExitCode:
    """Show a branch: its tables, and how each stands to production's."""
    record = find_branch(settings.workspace, name)
    view = open_view(settings.workspace, load_workspace(settings.workspace), record)
    if settings.json:
        write_json("branch show", view_document(view))
    else:
        write_line(render_view(view))
    return ExitCode.OK
