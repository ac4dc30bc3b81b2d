"""Branches made and deleted: tables, a ledger of their own, and a row in production's.

The row comes last when a branch is made and goes first when it is deleted, so a branch that has a
row is whole. What lies about without one is left over, and is cleared away before anything is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.branches.creating import Origin, seed_branch
from rocky.branches.parents import Chosen
from rocky.errors import ChangeRefused, LedgerLocked
from rocky.ledger import Ledger, open_ledger
from rocky.ledger.branch_records import BranchRecord, BranchStatus
from rocky.ledger.branching import branch_key, load_branches, record_branch
from rocky.ledger.claims import living_runs
from rocky.project.branching import branch_prefix, branch_state
from rocky.project.state import State
from rocky.remote.starting_over import start_over
from rocky.store.cloning import drop_branch_folder
from rocky.store.sharing import refuse_shared
from rocky.store.warehouse import Warehouse

_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""What SQLite keeps beside a file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A branch to be made. `state` says where its ledger is kept beside the file here."""

    name: str
    created_by: str
    warehouse: Warehouse
    adapter: str
    state: State
    description: str | None = None
    base_commit: str | None = None


def create_branch(
    ledger: Ledger,
    wanted: Wanted,
    chosen: Chosen,
    origin: Origin,
    environment: Mapping[str, str],
) -> BranchRecord:
    """Make a branch and record it in production's ledger.

    Raises ChangeRefused when there is one of that name, and what store and ledger raise; then
    there is no branch.
    """
    known = {branch_key(each.name): each for each in load_branches(ledger.path)}
    found = known.get(branch_key(wanted.name))
    if found is not None and found.status is BranchStatus.OPEN:
        raise ChangeRefused(
            f"there is a branch `{found.name}` already; `rocky branch delete {found.name}` removes"
            " it"
        )
    clear_branch(wanted.warehouse, branch_state(ledger.path, wanted.name))
    path = branch_state(ledger.path, wanted.name)
    with open_ledger(path) as own:
        seed_branch(own, wanted.warehouse, chosen.parent, origin)
    start_over(wanted.state, path, environment)
    record = BranchRecord(
        wanted.name,
        branch_prefix(wanted.name),
        wanted.created_by,
        origin.now,
        wanted.warehouse.objects.place(""),
        chosen.parent.warehouse.objects.place(""),
        parent=chosen.parent.name,
        adapter=wanted.adapter,
        from_run=chosen.from_run,
        base_commit=wanted.base_commit,
        git_branch=origin.circumstances.git_branch,
        description=wanted.description,
        tables=chosen.parent.versions,
    )
    record_branch(ledger, record)
    return record


def remake_branch(
    ledger: Ledger,
    record: BranchRecord,
    wanted: Wanted,
    chosen: Chosen,
    origin: Origin,
    environment: Mapping[str, str],
) -> BranchRecord:
    """Delete a branch and make it again, under the name of who made it first.

    Raises as both do; cut short, there is no branch of the name.
    """
    delete_branch(ledger, record, wanted.warehouse, wanted.created_by, origin.now)
    again = replace(wanted, created_by=record.created_by)
    return create_branch(ledger, again, chosen, origin, environment)


def delete_branch(
    ledger: Ledger, record: BranchRecord, warehouse: Warehouse, by: str, now: datetime
) -> int:
    """Delete a branch; how many objects went. Its row stays, and so do approvals of it.

    Raises LedgerLocked while a run is at work on it, and ChangeRefused while another branch reads
    its files.
    """
    path = branch_state(ledger.path, record.name)
    living = living_runs(path)
    if living:
        raise LedgerLocked(
            f"branch `{record.name}` cannot be deleted: {living[0].holder} its tables; wait for it"
        )
    refuse_shared(warehouse)
    gone = replace(record, status=BranchStatus.DELETED, deleted_at=now, deleted_by=by)
    record_branch(ledger, gone)
    return clear_branch(warehouse, path)


def clear_branch(warehouse: Warehouse, state: Path) -> int:
    """Remove what a branch has left on disk; doing it again finishes what was interrupted."""
    removed = drop_branch_folder(warehouse)
    for each in _BESIDE:
        state.with_name(state.name + each).unlink(missing_ok=True)
    return removed
