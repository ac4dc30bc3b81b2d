"""The life of a branch: its parent found, the branch created, and deleted again.

A parent is production as it is, another branch, production as a run left it, or as the newest run
of a commit of the code did. The branch's row in production's ledger comes last when it is created
and goes first when it is deleted, so a branch that has a row is whole. What lies about without one
is left over, and is cleared away before anything is made.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from rocky.branches.clones import BranchOrigin, Parent, clone_parent
from rocky.branches.record_transfer import recorded_tables
from rocky.branches.table_commits import (
    find_planted_tables,
    refuse_altered_version,
    refuse_foreign_tables,
)
from rocky.errors import ChangeRefused, LedgerLocked, NothingSelected, StoreUnreadable
from rocky.ledger import Ledger, open_ledger
from rocky.ledger.branch_records import PRODUCTION, BranchRecord, BranchStatus
from rocky.ledger.branches import branch_key, load_branches, record_branch, record_deletion
from rocky.ledger.claims import LocalClaim, claims_folder, living_runs
from rocky.ledger.readers.history import LATEST, open_history_reader
from rocky.ledger.readers.table import open_table_record_reader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunStatus
from rocky.project.configuration.blocks import State
from rocky.project.project import branch_prefix, branch_state
from rocky.state.publication import replace_state
from rocky.store.branch_folder import drop_branch_folder, list_branch_folder
from rocky.store.delta.snapshot import Snapshot
from rocky.store.file_usage import refuse_shared
from rocky.store.warehouse import Table, Warehouse

_READERS: Final = 16


class OtherBranch(NamedTuple):
    """A branch that another may be made of, under the name that it was made under."""

    name: str
    warehouse: Warehouse
    state: Path


@dataclass(frozen=True, slots=True)
class ParentCandidates:
    """Where parents are: production, and the branches that are open, by key.

    `resolve` finds the commit that a git reference means, if it means one.
    """

    warehouse: Warehouse
    state: Path
    branches: Mapping[str, OtherBranch] = field(default_factory=dict)
    resolve: Callable[[str], str | None] = lambda _ref: None


@dataclass(frozen=True, slots=True)
class ChosenParent:
    """A parent; `from_run` is the run after which it was taken, if it was not as it is."""

    parent: Parent
    from_run: RunId | None = None


def find_parent(wanted: str | None, candidates: ParentCandidates) -> ChosenParent:
    """What a branch is to be made of. Raises NothingSelected, StoreUnreadable."""
    if wanted is None or wanted == PRODUCTION:
        return ChosenParent(_parent_now(PRODUCTION, candidates.warehouse, candidates.state))
    other = candidates.branches.get(branch_key(wanted))
    if other is not None:
        return ChosenParent(_parent_now(*other))
    run_id = _find_run(wanted, candidates)
    known = recorded_tables(candidates.state, run_id)
    by_name = {each.name.lower(): each for each in candidates.warehouse.tables()}
    tables = {}
    for target, each in known.items():
        table, version = by_name.get(target), each.execution.commit_version
        if table is None or version is None:
            continue
        tables[table] = _snapshot_at(table, version, run_id)
    return ChosenParent(Parent(PRODUCTION, candidates.warehouse, tables, known, None), run_id)


def _snapshot_at(table: Table, version: int, run_id: RunId) -> Snapshot:
    try:
        snapshot = table.snapshot(version)
    except StoreUnreadable as error:
        raise NothingSelected(
            f"`{table.name}` is no longer there as `{run_id}` left it: {error}"
        ) from error
    assert snapshot is not None
    return snapshot


def _find_run(wanted: str, candidates: ParentCandidates) -> RunId:
    reader = open_history_reader(candidates.state)
    if reader is not None:
        with reader:
            run = reader.find_run(wanted)
        if run is not None and run.status is RunStatus.RUNNING:
            raise NothingSelected(f"`{run.run_id}` has not ended: its tables are not all there yet")
        if run is not None:
            return run.run_id
    commit = None if wanted == LATEST else candidates.resolve(wanted)
    lookups = open_table_record_reader(candidates.state) if commit is not None else None
    if commit is not None and lookups is not None:
        with lookups:
            runs = lookups.git_commit_runs(commit)
        if runs:
            return runs[-1]
        raise NothingSelected(
            f"no run of commit {commit[:12]} (`{wanted}`) is recorded; `rocky history` lists runs"
        )
    raise NothingSelected(
        f"`{wanted}` is not a branch, a run or a commit; `rocky branch list` and"
        " `rocky history` show what there is"
    )


def _parent_now(name: str, warehouse: Warehouse, state: Path) -> Parent:
    tables = list(warehouse.tables())
    with ThreadPoolExecutor(_READERS, thread_name_prefix="rocky-branch") as pool:
        found = list(pool.map(lambda table: table.snapshot(), tables))
    there = {table: at for table, at in zip(tables, found, strict=True) if at is not None}
    return Parent(name, warehouse, there, recorded_tables(state), state)


_LEDGER_SUFFIXES: Final = ("", "-wal", "-shm", "-journal", ".sync", ".unpublished")
"""What SQLite, and remote state, keep beside a file."""


@dataclass(frozen=True, slots=True)
class BranchRequest:
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
    wanted: BranchRequest,
    chosen: ChosenParent,
    origin: BranchOrigin,
    environment: Mapping[str, str],
) -> BranchRecord:
    """Make a branch and record it in production's ledger.

    Raises ChangeRefused when there is one of that name, LedgerLocked while somebody else makes or
    deletes it, and what store and ledger raise; then there is no branch.
    """
    if branch_key(wanted.name) == branch_key(PRODUCTION):
        raise ChangeRefused(
            f"no branch can be called `{wanted.name}`: the name is reserved for the tables that"
            " branches are made from"
        )
    with _claimed(ledger, wanted.name, "create"):
        found = _find_branch(ledger, wanted.name)
        if found is not None and found.status is BranchStatus.OPEN:
            raise ChangeRefused(
                f"there is a branch `{found.name}` already; `rocky branch delete {found.name}`"
                " removes it"
            )
        path = branch_state(ledger.path, wanted.name)
        _refuse_others(wanted, path)
        chosen = _recorded_part(ledger, chosen)
        clear_branch((wanted.warehouse, *wanted.others), path)
        with open_ledger(path) as own:
            clone_parent(own, wanted.warehouse, chosen.parent, origin)
        replace_state(wanted.state, path, environment)
        record = _record_of(wanted, chosen, origin)
        record_branch(ledger, record)
    return record


def _recorded_part(ledger: Ledger, chosen: ChosenParent) -> ChosenParent:
    """A parent without tables that no run has made: a branch would record them as its own.

    Raises ForeignCommit for one that is not what its runs have recorded.
    """
    parent = chosen.parent
    models = {target: each.execution.model_name for target, each in parent.known.items()}
    with ExitStack() as opened:
        own = ledger
        if parent.name != PRODUCTION and parent.state is not None:
            own = opened.enter_context(open_ledger(parent.state))
        if chosen.from_run is None:
            refuse_foreign_tables(own, parent.tables.items(), models)
            planted = find_planted_tables(own, parent.tables.items(), models)
            made = {
                table: at
                for table, at in parent.tables.items()
                if table.name.lower() not in planted
            }
            return replace(chosen, parent=replace(parent, tables=made))
        for table, snapshot in parent.tables.items():
            refuse_altered_version(own, models[table.name.lower()], table, snapshot)
        return chosen


def _refuse_others(wanted: BranchRequest, state: Path) -> None:
    """Raises ChangeRefused for tables of that name that another state file has made.

    What an interrupted creation or deletion has left here has its state file beside it.
    """
    if state.exists():
        return
    for each in (wanted.warehouse, *wanted.others):
        table = next(iter(each.tables()), None)
        if table is not None:
            raise ChangeRefused(
                f"`{each.objects.place('')}` has tables of a branch `{wanted.name}` that this state"
                f" file did not make, such as `{table.name}`; delete the branch where it was made,"
                " or choose another name"
            )


def _record_of(wanted: BranchRequest, chosen: ChosenParent, origin: BranchOrigin) -> BranchRecord:
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

    The row stays, and so do approvals of it. Raises LedgerLocked while a run is using it,
    NothingSelected when it is no longer there, and ChangeRefused while another branch reads its
    files.
    """
    with _claimed(ledger, record.name, "delete"):
        found = _find_branch(ledger, record.name)
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
        record_deletion(ledger, gone)
    return gone


def clear_deleted(
    ledger: Ledger,
    record: BranchRecord,
    warehouses: Sequence[Warehouse],
    check: Callable[[], None] = lambda: None,
) -> int:
    """Remove what a branch that is recorded as deleted has left; how many objects went.

    Comes when everybody can know that it is deleted. One that was made anew is left alone. Raises
    ClaimLost when `check` does, or when the claim of this process was taken away.
    """
    with _claimed(ledger, record.name, "delete") as claim:
        found = _find_branch(ledger, record.name)
        if found is not None and found.status is BranchStatus.OPEN:
            return 0

        def check_both() -> None:
            claim.check()
            check()

        return clear_branch(warehouses, branch_state(ledger.path, record.name), check_both)


def has_leftovers(warehouses: Sequence[Warehouse], state: Path) -> bool:
    """Whether there is anything to clear."""
    return state.exists() or any(list_branch_folder(each).own for each in warehouses)


def list_foreign(warehouses: Sequence[Warehouse]) -> tuple[str, ...]:
    """The places in a branch's folders of what somebody else has put there, links among it."""
    return tuple(
        each.objects.place(path) for each in warehouses for path in list_branch_folder(each).foreign
    )


def clear_branch(
    warehouses: Sequence[Warehouse], state: Path, check: Callable[[], None] = lambda: None
) -> int:
    """Remove what a branch has left on disk; doing it again finishes what was interrupted.

    `check` is asked before each removal and raises when the branch's name is others' by now.
    """
    removed = sum(drop_branch_folder(each, check) for each in warehouses)
    check()
    for each in _LEDGER_SUFFIXES:
        state.with_name(state.name + each).unlink(missing_ok=True)
    # Only what runs that are dead have left: a living one has refused all this.
    shutil.rmtree(claims_folder(state), ignore_errors=True)
    return removed


def _find_branch(ledger: Ledger, name: str) -> BranchRecord | None:
    known = {branch_key(each.name): each for each in load_branches(ledger.path)}
    return known.get(branch_key(name))


@contextmanager
def _claimed(ledger: Ledger, name: str, verb: str) -> Iterator[LocalClaim]:
    """One at a time makes or deletes a branch of a name."""
    with ledger.claim([branch_claim(name)], f"rocky branch {verb}") as claim:
        yield claim


def branch_claim(name: str) -> str:
    """What stands for a branch among the tables that are claimed."""
    return f"branch:{branch_key(name)}"
