"""Branches made and deleted: tables, a ledger of their own, and a row in production's.

The row comes last when a branch is made and goes first when it is deleted, so a branch that has a
row is whole. What lies about without one is left over, and is cleared away before anything is made.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.branches.creating import Origin, seed_branch
from rocky.branches.parents import Chosen
from rocky.errors import ChangeRefused, LedgerLocked, NothingSelected
from rocky.ledger import Ledger, open_ledger
from rocky.ledger.branch_records import PRODUCTION, BranchRecord, BranchStatus
from rocky.ledger.branching import branch_key, load_branches, record_branch
from rocky.ledger.claims import claims_folder, living_runs
from rocky.project.branching import branch_prefix, branch_state
from rocky.project.state import State
from rocky.remote.starting_over import start_over
from rocky.store.cloning import drop_branch_folder
from rocky.store.sharing import refuse_shared
from rocky.store.warehouse import Warehouse

_BESIDE: Final = ("", "-wal", "-shm", "-journal", ".sync", ".unpublished")
"""What SQLite, and a state that is kept elsewhere, keep beside a file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A branch to be made. `state` says where its ledger is kept beside the file here.

    `others` are the places that the project's other adapters would have for one of that name.
    """

    name: str
    created_by: str
    warehouse: Warehouse
    adapter: str
    state: State
    description: str | None = None
    base_commit: str | None = None
    others: tuple[Warehouse, ...] = ()


def create_branch(
    ledger: Ledger,
    wanted: Wanted,
    chosen: Chosen,
    origin: Origin,
    environment: Mapping[str, str],
) -> BranchRecord:
    """Make a branch and record it in production's ledger.

    Raises ChangeRefused when there is one of that name, LedgerLocked while somebody else makes or
    deletes it, and what store and ledger raise; then there is no branch.
    """
    if branch_key(wanted.name) == branch_key(PRODUCTION):
        raise ChangeRefused(f"no branch can be called `{wanted.name}`: that is what it is made of")
    with _claimed(ledger, wanted.name, "create"):
        found = _recorded(ledger, wanted.name)
        if found is not None and found.status is BranchStatus.OPEN:
            raise ChangeRefused(
                f"there is a branch `{found.name}` already; `rocky branch delete {found.name}`"
                " removes it"
            )
        path = branch_state(ledger.path, wanted.name)
        clear_branch((wanted.warehouse, *wanted.others), path)
        with open_ledger(path) as own:
            seed_branch(own, wanted.warehouse, chosen.parent, origin)
        start_over(wanted.state, path, environment)
        record = _record_of(wanted, chosen, origin)
        record_branch(ledger, record)
    return record


def _record_of(wanted: Wanted, chosen: Chosen, origin: Origin) -> BranchRecord:
    return BranchRecord(
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


def delete_branch(
    ledger: Ledger, record: BranchRecord, warehouses: Sequence[Warehouse], by: str, now: datetime
) -> BranchRecord:
    """Record that a branch is deleted; `clear_deleted` then removes its tables.

    The row stays, and so do approvals of it. Raises LedgerLocked while a run is at work on it,
    NothingSelected when it is no longer there, and ChangeRefused while another branch reads its
    files.
    """
    with _claimed(ledger, record.name, "delete"):
        found = _recorded(ledger, record.name)
        if found is None or found.status is not BranchStatus.OPEN:
            raise NothingSelected(f"branch `{record.name}` has just been deleted")
        living = living_runs(branch_state(ledger.path, record.name))
        if living:
            raise LedgerLocked(
                f"branch `{record.name}` cannot be deleted: {living[0].holder} its tables; wait for"
                " it"
            )
        for each in warehouses:
            refuse_shared(each)
        gone = replace(found, status=BranchStatus.DELETED, deleted_at=now, deleted_by=by)
        record_branch(ledger, gone)
    return gone


def clear_deleted(ledger: Ledger, record: BranchRecord, warehouses: Sequence[Warehouse]) -> int:
    """Remove what a branch that is recorded as deleted has left; how many objects went.

    Comes when everybody can know that it is deleted. One that was made anew is left alone.
    """
    with _claimed(ledger, record.name, "delete"):
        found = _recorded(ledger, record.name)
        if found is not None and found.status is BranchStatus.OPEN:
            return 0
        return clear_branch(warehouses, branch_state(ledger.path, record.name))


def has_leftovers(warehouses: Sequence[Warehouse], state: Path) -> bool:
    """Whether there is anything to clear."""
    return state.exists() or any(True for each in warehouses for _ in each.objects.list(""))


def clear_branch(warehouses: Sequence[Warehouse], state: Path) -> int:
    """Remove what a branch has left on disk; doing it again finishes what was interrupted."""
    removed = sum(drop_branch_folder(each) for each in warehouses)
    for each in _BESIDE:
        state.with_name(state.name + each).unlink(missing_ok=True)
    # Only what runs that are dead have left: a living one has refused all this.
    shutil.rmtree(claims_folder(state), ignore_errors=True)
    return removed


def _recorded(ledger: Ledger, name: str) -> BranchRecord | None:
    known = {branch_key(each.name): each for each in load_branches(ledger.path)}
    return known.get(branch_key(name))


@contextmanager
def _claimed(ledger: Ledger, name: str, verb: str) -> Iterator[None]:
    """One at a time makes or deletes a branch of a name."""
    with ledger.claim([branch_claim(name)], f"rocky branch {verb}"):
        yield


def branch_claim(name: str) -> str:
    """What stands for a branch among the tables that are claimed."""
    return f"branch:{branch_key(name)}"
