"""`rocky branch list`: the branches there are."""

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.branches import branch_document, render_branches
from rocky.cli.render.promotions import render_promotions
from rocky.ledger.branch_records import BranchStatus
from rocky.ledger.branches import load_branches, load_promotions
from rocky.operations.branch.lookup import refreshed_state


@click.command("list", cls=BranchCommand)
@click.option("--all", "everything", is_flag=True, help="Also those that were deleted.")
@click.option("--promotions", is_flag=True, help="What was promoted and reverted, in place of it.")
@click.pass_obj
def command(settings: Settings, everything: bool, promotions: bool) -> ExitCode:
    """List branches."""
    if promotions:
        return _list_promotions(settings)
    found = [
        each
        for each in load_branches(refreshed_state(settings.workspace))
        if everything or each.status is BranchStatus.OPEN
    ]
    if settings.json:
        documents = [branch_document(each) for each in found]
        write_json("branch list", {"branches": documents, "total": len(found)})
    else:
        write_line(render_branches(found, quiet=settings.quiet))
    return ExitCode.OK


def _list_promotions(settings: Settings) -> ExitCode:
    found = load_promotions(refreshed_state(settings.workspace))
    if settings.json:
        documents = [each.to_json() for each in found]
        write_json("branch list", {"promotions": documents, "total": len(found)})
    else:
        write_line(render_promotions(found))
    return ExitCode.OK
