"""`rocky branch create`: a branch of all tables, in a moment and for no space."""

import os
import re
from datetime import UTC, datetime
from typing import Final

import click

from rocky.branches.clones import BranchOrigin
from rocky.branches.lifecycle import (
    BranchRequest,
    OtherBranch,
    ParentCandidates,
    branch_claim,
    create_branch,
    find_parent,
)
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.branches import branch_document, render_created
from rocky.errors import NothingSelected
from rocky.ledger import LATEST, Ledger
from rocky.ledger.branch_records import BranchRecord
from rocky.ledger.branches import branch_key
from rocky.ledger.claims import living_runs
from rocky.operations.branch.lookup import (
    People,
    branch_warehouses,
    find_people,
    open_branches,
    warehouse_of,
)
from rocky.operations.branch.state import fetch_branch_state
from rocky.operations.state_change import change_state, load_sound_project
from rocky.operations.workspace import main_state_path
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.project.project import branch_prefix, on_branch, state_on_branch
from rocky.run.prepare.caller import observe_origin

_RUN_ID: Final = re.compile(r"run-\d{8}-\d{6}-\d{3}")


@click.command("create", cls=BranchCommand)
@click.argument("name")
@click.option(
    "--from",
    "wanted",
    metavar="REF|RUN",
    help="Another branch, a run, `latest`, or a commit that was run. Default: production now.",
)
@click.option("--base", metavar="REF", help="What its code is compared with once merged.")
@click.option("-m", "--description", metavar="TEXT", help="What it is for.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings,
    name: str,
    wanted: str | None,
    base: str | None,
    description: str | None,
    target: str | None,
) -> ExitCode:
    """Make a branch of the tables, without copying.

    `rocky run --branch NAME` then builds what the code makes differently, on the branch alone.
    """
    branch_prefix(name)
    _refuse_ambiguous(name)
    project = load_sound_project(settings.workspace, "made")
    people = find_people(settings.workspace, project.root, base)
    parent = (
        open_branches(settings.workspace).get(branch_key(wanted)) if wanted is not None else None
    )
    adapter = _adapter(project, target, parent)
    now = datetime.now(UTC)
    origin = BranchOrigin(observe_origin(project.root, os.environ), project.config_hash.hex(), now)
    first, *others = branch_warehouses(settings.workspace, project, name, adapter)
    request = BranchRequest(
        name,
        people.who,
        first,
        adapter,
        state_on_branch(project.config.state, name),
        description,
        people.base_commit,
        tuple(others),
    )
    candidates = _candidates(settings, project, adapter, people, parent)

    def create(ledger: Ledger) -> BranchRecord:
        chosen = find_parent(wanted, candidates)
        return create_branch(ledger, request, chosen, origin, os.environ)

    working = [each.run_id for each in living_runs(main_state_path(settings.workspace))]
    record, warnings = change_state(settings.workspace, [branch_claim(name)], create)
    for warning in (*warnings, *map(_describe_mix, working)):
        write_note(f"warning: {warning}")
    if settings.json:
        write_json("branch create", {"branch": branch_document(record)})
    else:
        write_line(render_created(record))
    return ExitCode.OK


def _describe_mix(run_id: str) -> str:
    return (
        f"`{run_id}` is at work: some tables of the branch may be as it found them, others as it"
        " left them; `rocky branch rebase` takes them again"
    )


def _adapter(project: Project, target: str | None, parent: BranchRecord | None) -> str:
    """The adapter whose tables are meant: of a branch of a branch, the one of its parent."""
    if parent is None:
        return main_adapter(project, target)[0]
    if target not in (None, parent.adapter):
        raise NothingSelected(
            f"branch `{parent.name}` has the tables of `[adapter.{parent.adapter}]` and no other:"
            " leave `--target` out"
        )
    return parent.adapter


def _refuse_ambiguous(name: str) -> None:
    """Raises NothingSelected for a name that `--from` understands otherwise."""
    if name.lower() == LATEST or _RUN_ID.fullmatch(name):
        raise NothingSelected(
            f"`{name}` cannot be the name of a branch: it means a run; choose another"
        )


def _candidates(
    settings: Settings,
    project: Project,
    adapter: str,
    people: People,
    parent: BranchRecord | None,
) -> ParentCandidates:
    others = {}
    if parent is not None:
        there = warehouse_of(settings.workspace, on_branch(project, parent.name), adapter)
        state = fetch_branch_state(settings.workspace, parent)
        others[branch_key(parent.name)] = OtherBranch(parent.name, there, state)
    return ParentCandidates(
        warehouse_of(settings.workspace, project, adapter),
        main_state_path(settings.workspace),
        others,
        people.resolve,
    )
