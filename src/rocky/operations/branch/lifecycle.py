"""Branches created, rebased and deleted: tables cloned without copying, production left alone."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rocky.branches.clones import BranchOrigin, refuse_unfinished_promotion
from rocky.branches.lifecycle import (
    BranchRequest,
    ChosenParent,
    OtherBranch,
    ParentCandidates,
    branch_claim,
    clear_deleted,
    create_branch,
    delete_branch,
    find_parent,
    has_leftovers,
    list_foreign,
)
from rocky.errors import NothingSelected, PromotionRefused
from rocky.ledger import LATEST, Ledger
from rocky.ledger.branch_records import PRODUCTION, BranchRecord, BranchStatus
from rocky.ledger.branches import branch_key
from rocky.ledger.claims import living_runs
from rocky.operations.branch.lookup import (
    People,
    branch_warehouses,
    fetch_branch_state,
    find_deleted,
    find_people,
    find_who,
    held_branch,
    warehouse_of,
)
from rocky.operations.digest import Digested
from rocky.operations.state.state_change import change_state, load_sound_project
from rocky.operations.workspace import (
    Workspace,
    find_branch,
    main_state_path,
    open_branches,
)
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.project import branch_prefix, branch_state, on_branch, state_on_branch
from rocky.run.prepare.caller import observe_origin

_RUN_ID: Final = re.compile(r"run-\d{8}-\d{6}-\d{3}")


@dataclass(frozen=True, slots=True)
class CreateRequest(Request):
    """A branch to be made, of production as it is now unless there is a `source`.

    That is another branch, a run, `latest`, or a commit that was run. `base` is what its code is
    compared with once merged, `adapter` the one whose tables are meant.
    """

    name: str
    source: str | None = None
    base: str | None = None
    description: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class BranchReport(Digested):
    """A branch that was created or rebased, as it is recorded."""

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
            f"`{run_id}` is running: some tables of the branch may be from before it and others"
            " from after it; `rocky branch rebase` clones them again"
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


@dataclass(frozen=True, slots=True)
class DeleteRequest(Request):
    """Which branch."""

    name: str


@dataclass(frozen=True, slots=True, repr=False)
class DeletionReport(Digested):
    """The branch as it was, and how many objects of its tables went."""

    branch: BranchRecord
    objects_removed: int
    warnings: tuple[str, ...] = ()


def delete(workspace: Workspace, request: DeleteRequest) -> DeletionReport:
    """Delete a branch, or what an interrupted deletion has left of it.

    Raises NothingSelected, LedgerLocked while a run is using it, and ChangeRefused while
    another branch reads its files.
    """
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "deleted")
    record = _find(workspace, project, request.name)
    who = find_who(workspace, project.root)
    removed, warnings = drop_branch(workspace, project, record, who)
    return DeletionReport(record, removed, warnings)


def _find(workspace: Workspace, project: Project, name: str) -> BranchRecord:
    """The branch; or one that is recorded as deleted, and whose tables are still there."""
    gone = find_deleted(workspace, name)
    if gone is None:
        return find_branch(workspace, name)
    state = branch_state(main_state_path(workspace), gone.name)
    if has_leftovers(branch_warehouses(workspace, project, gone.name, gone.adapter), state):
        return gone
    return find_branch(workspace, name)


def drop_branch(
    workspace: Workspace, project: Project, record: BranchRecord, who: str
) -> tuple[int, tuple[str, ...]]:
    """How many objects went, and what to warn of.

    Nothing of a branch goes before everybody can know that it is deleted.
    """
    warehouses = branch_warehouses(workspace, project, record.name, record.adapter)
    removed: list[int] = []

    def delete(ledger: Ledger) -> None:
        if record.status is BranchStatus.OPEN:
            delete_branch(ledger, record, warehouses, who, datetime.now(UTC))

    def clear(ledger: Ledger, check: Callable[[], None]) -> None:
        removed.append(clear_deleted(ledger, record, warehouses, check))

    with held_branch(workspace, record, warehouses[0]):
        _, warnings = change_state(workspace, [branch_claim(record.name)], delete, clear)
    if not removed:
        stays = (
            f"other machines could not be told that branch `{record.name}` is deleted, so its"
            f" tables are still there; `rocky branch delete {record.name}` removes them when it"
            " can be sent"
        )
        return 0, (*warnings, stays)
    return removed[0], (*warnings, *_foreign_warnings(record, list_foreign(warehouses)))


_SHOWN_PLACES: Final = 3


def _foreign_warnings(record: BranchRecord, places: Sequence[str]) -> tuple[str, ...]:
    if not places:
        return ()
    shown = ", ".join(f"`{each}`" for each in places[:_SHOWN_PLACES])
    more = f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else ""
    return (
        f"the folder of branch `{record.name}` holds what Rocky did not put there, and none of it"
        f" was touched or followed: {shown}{more}; remove it by hand",
    )


@dataclass(frozen=True, slots=True)
class RebaseRequest(Request):
    """Which branch, and what its code is compared with once merged."""

    name: str
    base: str | None = None


def rebase(workspace: Workspace, request: RebaseRequest) -> BranchReport:
    """Make a branch again. Raises PromotionRefused, PromotionUnfinished, and as `create` does."""
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "made")
    record = find_branch(workspace, request.name)
    if record.parent != PRODUCTION:
        raise PromotionRefused(
            f"branch `{record.name}` was not made from production and"
            f" cannot be rebased: delete it and create it again"
        )
    people = find_people(workspace, project.root, request.base)
    origin = origin_of(workspace, project)
    first, *others = branch_warehouses(workspace, project, record.name, record.adapter)
    wanted = BranchRequest(
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
    production = warehouse_of(workspace, project, record.adapter)
    # Whatever can be refused is refused while the branch is still there.
    chosen = find_parent(None, ParentCandidates(production, main_state_path(workspace)))
    refuse_unfinished_promotion(chosen.parent.warehouse)
    drop_branch(workspace, project, record, people.who)
    return BranchReport(make_branch(workspace, wanted, origin, lambda: chosen))
