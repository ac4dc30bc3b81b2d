"""A branch of all tables, made in a moment and for no space."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rocky.branches.clones import BranchOrigin
from rocky.branches.lifecycle import (
    BranchRequest,
    ChosenParent,
    OtherBranch,
    ParentCandidates,
    branch_claim,
    create_branch,
    find_parent,
)
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
from rocky.operations.workspace import Workspace, main_state_path
from rocky.plan.adapters import main_adapter
from rocky.project import Project
from rocky.project.project import branch_prefix, on_branch, state_on_branch
from rocky.run.prepare.caller import observe_origin

_RUN_ID: Final = re.compile(r"run-\d{8}-\d{6}-\d{3}")


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """A branch to be made, of production as it is now unless there is a `source`.

    That is another branch, a run, `latest`, or a commit that was run. `base` is what its code is
    compared with once merged, `adapter` the one whose tables are meant.
    """

    name: str
    source: str | None = None
    base: str | None = None
    description: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class BranchReport:
    """A branch that was made, or made anew, as it is recorded."""

    branch: BranchRecord


def create(workspace: Workspace, request: CreateRequest) -> BranchReport:
    """Make a branch. Raises NothingSelected, ChangeRefused, LedgerLocked, RunRefused."""
    workspace = workspace.on_production()
    branch_prefix(request.name)
    _refuse_ambiguous(request.name)
    project = load_sound_project(workspace, "made")
    people = find_people(workspace, project.root, request.base)
    source = request.source
    parent = open_branches(workspace).get(branch_key(source)) if source is not None else None
    adapter = _adapter(project, request.adapter, parent)
    origin = origin_of(workspace, project)
    first, *others = branch_warehouses(workspace, project, request.name, adapter)
    wanted = BranchRequest(
        request.name,
        people.who,
        first,
        adapter,
        state_on_branch(project.config.state, request.name),
        request.description,
        people.base_commit,
        tuple(others),
    )
    candidates = _candidates(workspace, project, adapter, people, parent)
    working = [each.run_id for each in living_runs(main_state_path(workspace))]
    record = make_branch(workspace, wanted, origin, lambda: find_parent(source, candidates))
    for run_id in working:
        workspace.warn(
            f"`{run_id}` is at work: some tables of the branch may be as it found them, others as"
            " it left them; `rocky branch rebase` takes them again"
        )
    return BranchReport(record)


def origin_of(workspace: Workspace, project: Project) -> BranchOrigin:
    """By whom, from which code and when a branch is made now."""
    source = workspace.session_source
    who = observe_origin(project.root, workspace.environment, session_source=source)
    return BranchOrigin(who, project.config_hash.hex(), datetime.now(UTC))


def make_branch(
    workspace: Workspace,
    wanted: BranchRequest,
    origin: BranchOrigin,
    find: Callable[[], ChosenParent],
) -> BranchRecord:
    """Make a branch of the parent that is found when nobody else changes the state."""

    def make(ledger: Ledger) -> BranchRecord:
        return create_branch(ledger, wanted, find(), origin, workspace.environment)

    record, warnings = change_state(workspace, [branch_claim(wanted.name)], make)
    for warning in warnings:
        workspace.warn(warning)
    return record


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
    workspace: Workspace,
    project: Project,
    adapter: str,
    people: People,
    parent: BranchRecord | None,
) -> ParentCandidates:
    others = {}
    if parent is not None:
        there = warehouse_of(workspace, on_branch(project, parent.name), adapter)
        state = fetch_branch_state(workspace, parent)
        others[branch_key(parent.name)] = OtherBranch(parent.name, there, state)
    return ParentCandidates(
        warehouse_of(workspace, project, adapter),
        main_state_path(workspace),
        others,
        people.resolve,
    )
