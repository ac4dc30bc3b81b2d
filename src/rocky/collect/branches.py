"""Branches: which files of a warehouse their tables refer to.

In a folder a branch has links of its own and needs nothing of anybody. In an object store its logs
name files of production, which only they tell of: so every branch there is read, also one that this
ledger has never heard of, and one that cannot be read keeps everything.
"""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.store.actions import parse_path
from rocky.store.files import SUFFIX, is_elsewhere, name_of
from rocky.store.log import Log
from rocky.store.warehouse import BRANCH_PREFIX, Warehouse, open_warehouse

_THREADS: Final = 16


def addresses_on_branches(
    warehouses: Sequence[Warehouse], deleted: Collection[str]
) -> frozenset[str]:
    """The addresses of all files that lie elsewhere than the tables of branches naming them.

    `deleted` are the places of branches that are no more: remains of one that cannot be read need
    nothing. What can be read may be a new branch in the making. Raises `StoreUnreadable` when it
    cannot be told.
    """
    found: set[str] = set()
    for warehouse in warehouses:
        for branch in _branches_of(warehouse):
            try:
                found |= _addresses_on(branch)
            except StoreUnreadable:
                if branch.objects.place("") not in deleted:
                    raise
    return frozenset(found)


def _branches_of(warehouse: Warehouse) -> Iterator[Warehouse]:
    location = warehouse.objects.location
    if location.folder is not None:
        return
    for folder in warehouse.objects.folders(""):
        if folder.startswith(BRANCH_PREFIX):
            yield open_warehouse(
                warehouse.objects.place(folder), base=Path(), options=location.settings
            )


def _addresses_on(branch: Warehouse) -> set[str]:
    try:
        logs = [table.log for table in branch.tables()]
        with ThreadPoolExecutor(_THREADS, "rocky-branches") as pool:
            return set().union(*pool.map(_addresses_in, logs))
    except (StoreUnreadable, ValueError, KeyError, TypeError) as error:
        raise StoreUnreadable(
            f"what the branch at `{branch.objects.place('')}` needs cannot be told: {error}"
        ) from error


def _addresses_in(log: Log) -> set[str]:
    """What any version needs: an older one can be read as long as its commit is there."""
    paths = (
        parse_path(action[kind])
        for action in log.all_actions()
        for kind in ("add", "remove")
        if action.get(kind)
    )
    return {name_of(path).removesuffix(SUFFIX) for path in paths if is_elsewhere(path)}
