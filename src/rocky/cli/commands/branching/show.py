"""`rocky branch show`: a branch, table by table, beside production. Needs no Spark."""

import click

from rocky.cli.branches import BranchCommand, find_branch, open_view
from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.projects import load_chosen
from rocky.cli.render.branches import render_view, view_document


@click.command("show", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def command(settings: Settings, name: str) -> ExitCode:
    """Show a branch: its tables, and how each stands to production's."""
    record = find_branch(settings, name)
    view = open_view(load_chosen(settings), record)
    if settings.json:
        write_json("branch show", view_document(view))
    else:
        write_line(render_view(view))
    return ExitCode.OK
