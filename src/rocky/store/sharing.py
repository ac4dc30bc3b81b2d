"""Sharing: which files of other tables the branches below a warehouse refer to.

In a folder a branch has links of its own and needs nothing of anybody. In an object store its logs
name files where they are, and only these logs tell: so every branch there is read, whoever made it,
before a file goes.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.store.actions import parse_path
from rocky.store.files import is_elsewhere
from rocky.store.log import Log
from rocky.store.warehouse import BRANCH_PREFIX, Warehouse, open_warehouse

_THREADS: Final = 16


def branches_of(warehouse: Warehouse) -> Iterator[Warehouse]:
    """The branches whose tables may refer to files of others: none in a folder."""
    location = warehouse.objects.location
    if location.folder is not None:
        return
    for folder in warehouse.objects.folders(""):
        if folder.startswith(BRANCH_PREFIX):
            place = warehouse.objects.place(folder)
            yield open_warehouse(place, base=Path(), options=location.settings)


def load_shared(branch: Warehouse) -> frozenset[str]:
    """The URIs of files elsewhere that any version of a table of a branch refers to.

    Raises `StoreUnreadable` when that cannot be told.
    """
    try:
        logs = [table.log for table in branch.tables()]
        with ThreadPoolExecutor(_THREADS, "rocky-branches") as pool:
            return frozenset().union(*pool.map(_shared_by, logs))
    except (StoreUnreadable, ValueError, KeyError, TypeError) as error:
        raise StoreUnreadable(
            f"what the branch at `{branch.objects.place('')}` needs cannot be told: {error}"
        ) from error


def _shared_by(log: Log) -> set[str]:
    # Of all versions: an older one can be read as long as its commit is there.
    paths = (
        parse_path(action[kind])
        for action in log.all_actions()
        for kind in ("add", "remove")
        if action.get(kind)
    )
    return {path for path in paths if is_elsewhere(path)}


def refuse_shared(branch: Warehouse) -> None:
    """Raise `ChangeRefused` when another branch refers to files of this one; `StoreUnreadable`."""
    location = branch.objects.location
    if location.folder is not None:
        return
    above = branch.objects.place("").rpartition("/")[0]
    start = f"{location.bucket}/{location.prefix}/"
    for other in branches_of(open_warehouse(above, base=Path(), options=location.settings)):
        if other.uri == branch.uri:
            continue
        if any(uri.partition("://")[2].startswith(start) for uri in load_shared(other)):
            name = other.uri.rpartition("/")[2].removeprefix(BRANCH_PREFIX)
            raise ChangeRefused(
                f"`{branch.uri}` is not removed: the branch `{name}` was made of it and reads its"
                " files; delete that one first"
            )
