"""`rocky branch rebase`: a branch made anew of production as it is now."""

import os
from datetime import UTC, datetime

import click

from rocky.branches.clones import BranchOrigin, refuse_unfinished_promotion
from rocky.branches.lifecycle import (
    BranchRequest,
    ParentCandidates,
    branch_claim,
    create_branch,
    find_parent,
)
from rocky.cli.commands.branching.delete import drop_branch
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.branches import branch_document, render_created
from rocky.errors import PromotionRefused
from rocky.ledger import Ledger
from rocky.ledger.branch_records import PRODUCTION, BranchRecord
from rocky.operations.branch.lookup import branch_warehouses, find_branch, find_people, warehouse_of
from rocky.operations.state_change import change_state, load_sound_project
from rocky.operations.workspace import main_state_path
from rocky.project.project import state_on_branch
from rocky.run.prepare.caller import observe_origin


@click.command("rebase", cls=BranchCommand)
@click.argument("name")
@click.option("--base", metavar="REF", help="What its code is compared with once merged.")
@click.pass_obj
def command(settings: Settings, name: str, base: str | None) -> ExitCode:
    """Make a branch anew of production as it is now.

    What the branch has built is dropped: `rocky run --branch NAME` builds it again, of what
    production has now. Approvals are void.
    """
    project = load_sound_project(settings.workspace, "made")
    record = find_branch(settings.workspace, name)
    if record.parent != PRODUCTION:
        raise PromotionRefused(f"branch `{record.name}` is not of production: delete and make it")
    people = find_people(settings.workspace, project.root, base)
    who = observe_origin(project.root, os.environ)
    origin = BranchOrigin(who, project.config_hash.hex(), datetime.now(UTC))
    first, *others = branch_warehouses(settings.workspace, project, record.name, record.adapter)
    request = BranchRequest(
        record.name,
        # Who made it first is still whose it is.
        record.created_by,
        first,
        record.adapter,
        state_on_branch(project.config.state, record.name),
        record.description,
        people.base_commit,
        tuple(others),
    )
    candidates = ParentCandidates(
        warehouse_of(settings.workspace, project, record.adapter),
        main_state_path(settings.workspace),
    )
    # Whatever can be refused is refused while the branch is still there.
    chosen = find_parent(None, candidates)
    refuse_unfinished_promotion(chosen.parent.warehouse)
    drop_branch(settings, project, record, people.who)

    def create(ledger: Ledger) -> BranchRecord:
        return create_branch(ledger, request, chosen, origin, os.environ)

    made, warnings = change_state(settings.workspace, [branch_claim(record.name)], create)
    for warning in warnings:
        write_note(f"warning: {warning}")
    if settings.json:
        write_json("branch rebase", {"branch": branch_document(made)})
    else:
        write_line(render_created(made))
    return ExitCode.OK
