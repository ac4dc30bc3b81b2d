"""A branch and its tables gone; production is not touched."""

from dataclasses import dataclass
from datetime import UTC, datetime

from rocky.branches.lifecycle import branch_claim, clear_deleted, delete_branch, has_leftovers
from rocky.ledger import Ledger
from rocky.ledger.branch_records import BranchRecord, BranchStatus
from rocky.operations.branch.lookup import branch_warehouses, find_branch, find_deleted, find_who
from rocky.operations.branch.state import held_branch
from rocky.operations.report import hidden
from rocky.operations.state_change import change_state, load_sound_project
from rocky.operations.workspace import Workspace, main_state_path
from rocky.project import Project
from rocky.project.project import branch_state


@dataclass(frozen=True, slots=True)
class DeleteRequest:
    """Which branch."""

    name: str


@dataclass(frozen=True, slots=True)
class DeletionReport:
    """The branch as it was, and how many objects of its tables went."""

    branch: BranchRecord
    objects_removed: int
    warnings: tuple[str, ...] = hidden()


def delete(workspace: Workspace, request: DeleteRequest) -> DeletionReport:
    """Delete a branch, or what an interrupted deletion has left of it.

    Raises NothingSelected, LedgerLocked while a run is at work on it, and ChangeRefused while
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

    def clear(ledger: Ledger) -> None:
        removed.append(clear_deleted(ledger, record, warehouses))

    with held_branch(workspace, record, warehouses[0]):
        _, warnings = change_state(workspace, [branch_claim(record.name)], delete, clear)
    if not removed:
        stays = (
            f"others could not be told that branch `{record.name}` is deleted, so its tables are"
            f" still there; `rocky branch delete {record.name}` removes them when it can be sent"
        )
        return 0, (*warnings, stays)
    return removed[0], warnings
