"""`rocky branch rebase`: a branch made anew of production as it is now."""

import os
from datetime import UTC, datetime

import click

from rocky.branches.creating import Origin, refuse_half_moved
from rocky.branches.making import Wanted, branch_claim, create_branch
from rocky.branches.parents import Candidates, find_parent
from rocky.cli.branches import (
    BranchCommand,
    branch_warehouses,
    find_branch,
    find_people,
    warehouse_of,
)
from rocky.cli.commands.branching.delete import drop_branch
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.branches import branch_document, render_created
from rocky.cli.state_files import main_state_path
from rocky.cli.upkeep import change_state, load_sound_project
from rocky.errors import PromotionRefused
from rocky.ledger import Ledger
from rocky.ledger.branch_records import PRODUCTION, BranchRecord
from rocky.project.branching import state_on_branch
from rocky.run.circumstances import observe_circumstances


@click.command("rebase", cls=BranchCommand)
@click.argument("name")
@click.option("--base", metavar="REF", help="What its code is compared with once merged.")
@click.pass_obj
def command(settings: Settings, name: str, base: str | None) -> ExitCode:
    """Make a branch anew of production as it is now.

    What the branch has built is dropped: `rocky run --branch NAME` builds it again, of what
    production has now. Approvals are void.
    """
    project = load_sound_project(settings, "made")
    record = find_branch(settings, name)
    if record.parent != PRODUCTION:
        raise PromotionRefused(f"branch `{record.name}` is not of production: delete and make it")
    people = find_people(project.root, base)
    who = observe_circumstances(project.root, os.environ)
    origin = Origin(who, project.config_hash.hex(), datetime.now(UTC))
    first, *others = branch_warehouses(project, record.name, record.adapter)
    request = Wanted(
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
    candidates = Candidates(warehouse_of(project, record.adapter), main_state_path(settings))
    # Whatever can be refused is refused while the branch is still there.
    chosen = find_parent(None, candidates)
    refuse_half_moved(chosen.parent.warehouse)
    drop_branch(settings, project, record, people.who)

    def create(ledger: Ledger) -> BranchRecord:
        return create_branch(ledger, request, chosen, origin, os.environ)

    made, warnings = change_state(settings, [branch_claim(record.name)], create)
    for warning in warnings:
        write_note(f"warning: {warning}")
    if settings.json:
        write_json("branch rebase", {"branch": branch_document(made)})
    else:
        write_line(render_created(made))
    return ExitCode.OK
