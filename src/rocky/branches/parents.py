"""Parents: what a branch is made of, from the words that people use for it.

Production as it is, another branch, production as a run left it, or as the newest run of a commit
of the code did.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from rocky.branches.creating import Parent
from rocky.errors import NothingSelected, StoreUnreadable
from rocky.ledger.branch_records import PRODUCTION
from rocky.ledger.branching import branch_key
from rocky.ledger.reader import LATEST, open_reader
from rocky.ledger.record import RunId
from rocky.ledger.records import RunStatus
from rocky.ledger.table_records import TableRecords, open_table_records
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

_READERS: Final = 16


class OtherBranch(NamedTuple):
    """A branch that another may be made of, under the name that it was made under."""

    name: str
    warehouse: Warehouse
    state: Path


@dataclass(frozen=True, slots=True)
class Candidates:
    """Where parents are: production, and the branches that are open, by key.

    `resolve` finds the commit that a git reference means, if it means one.
    """

    warehouse: Warehouse
    state: Path
    branches: Mapping[str, OtherBranch] = field(default_factory=dict)
    resolve: Callable[[str], str | None] = lambda _ref: None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A parent; `from_run` is the run after which it was taken, if it was not as it is."""

    parent: Parent
    from_run: RunId | None = None


def find_parent(wanted: str | None, candidates: Candidates) -> Chosen:
    """What a branch is to be made of. Raises NothingSelected, StoreUnreadable."""
    if wanted is None or wanted == PRODUCTION:
        return Chosen(_as_it_is(PRODUCTION, candidates.warehouse, candidates.state))
    other = candidates.branches.get(branch_key(wanted))
    if other is not None:
        return Chosen(_as_it_is(*other))
    run_id = _find_run(wanted, candidates)
    known = _known(candidates.state, run_id)
    by_name = {each.name.lower(): each for each in candidates.warehouse.tables()}
    tables = {}
    for target, each in known.items():
        table, version = by_name.get(target), each.execution.commit_version
        if table is None or version is None:
            continue
        tables[table] = _at(table, version, run_id)
    return Chosen(Parent(PRODUCTION, candidates.warehouse, tables, known, None), run_id)


def _at(table: Table, version: int, run_id: RunId) -> Snapshot:
    try:
        snapshot = table.snapshot(version)
    except StoreUnreadable as error:
        raise NothingSelected(
            f"`{table.name}` is no longer there as `{run_id}` left it: {error}"
        ) from error
    assert snapshot is not None
    return snapshot


def _find_run(wanted: str, candidates: Candidates) -> RunId:
    reader = open_reader(candidates.state)
    if reader is not None:
        with reader:
            run = reader.run(wanted)
        if run is not None and run.status is RunStatus.RUNNING:
            raise NothingSelected(f"`{run.run_id}` has not ended: its tables are not all there yet")
        if run is not None:
            return run.run_id
    commit = None if wanted == LATEST else candidates.resolve(wanted)
    lookups = open_table_records(candidates.state) if commit is not None else None
    if commit is not None and lookups is not None:
        with lookups:
            runs = lookups.git_commit_runs(commit)
        if runs:
            return runs[-1]
        raise NothingSelected(
            f"no run of commit {commit[:12]} (`{wanted}`) is recorded; `rocky history` lists runs"
        )
    raise NothingSelected(
        f"`{wanted}` is no branch, no run and no commit of the code; `rocky branch list` and"
        " `rocky history` show what there is"
    )


def _as_it_is(name: str, warehouse: Warehouse, state: Path) -> Parent:
    tables = list(warehouse.tables())
    with ThreadPoolExecutor(_READERS, thread_name_prefix="rocky-branch") as pool:
        found = list(pool.map(lambda table: table.snapshot(), tables))
    there = {table: at for table, at in zip(tables, found, strict=True) if at is not None}
    return Parent(name, warehouse, there, _known(state, None), state)


def _known(state: Path, until: str | None) -> Mapping[str, TableRecords]:
    lookups = open_table_records(state)
    if lookups is None:
        return {}
    with lookups:
        return lookups.tables(until)
