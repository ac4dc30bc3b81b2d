"""The folder of a branch: what of it is Rocky's, and how that is removed.

A branch goes by names: those that the logs of its tables give, and those that only Rocky gives (a
file named by its bytes, a log, what is staged, its own `_rocky`). Whatever else somebody has put
there stays, links above all: what they lead to is production's, or a stranger's.
"""

from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.store.data_file import is_addressed, is_uri
from rocky.store.delta.actions import parse_path
from rocky.store.delta.log import LOG_FOLDER
from rocky.store.folder import remove_empty_folders, walk_folder
from rocky.store.guard import GUARD
from rocky.store.warehouse import BRANCH_PREFIX, RESERVED, STAGING, Table, Warehouse

_DELETE_THREADS: Final = 16
_ICEBERG: Final = "metadata"
_TABLE_PARTS: Final = 3
_COPY_SUFFIX: Final = ".copy"


class BranchObjects(NamedTuple):
    """What lies in a branch's folder: of Rocky, logs apart, and what others have put there."""

    data: tuple[str, ...]
    logs: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def own(self) -> tuple[str, ...]:
        """What a deletion removes, in this order: what is left can be read until its log goes."""
        return (*self.data, *self.logs)


def list_branch_folder(warehouse: Warehouse) -> BranchObjects:
    """All that lies in the folder of a branch; no link is followed. Raises `StoreUnreadable`."""
    data, logs, foreign = [], [], []
    for path, is_file in _all_paths(warehouse):
        in_table = path.split("/")[_TABLE_PARTS:]
        if is_file and in_table and in_table[0] == LOG_FOLDER:
            logs.append(path)
        elif is_file and _is_own_name(path):
            data.append(path)
        else:
            foreign.append((path, is_file))
    # Logs are read only when something hangs on them: the files of other writers.
    tables = {"/".join(path.split("/")[:_TABLE_PARTS]) for path, is_file in foreign if is_file}
    named = frozenset(_names_in_logs(warehouse, tables))
    data += [path for path, is_file in foreign if is_file and path in named]
    left = (path for path, is_file in foreign if not is_file or path not in named)
    return BranchObjects(tuple(data), tuple(logs), tuple(sorted(left)))


def drop_branch_folder(warehouse: Warehouse, check: Callable[[], None] = lambda: None) -> int:
    """Remove all tables of a branch, whose folder this is; how many objects there were.

    `check` is asked before each removal and raises when no more may go. May be repeated after it
    was cut short. Raises `ChangeRefused` for a folder that is not a branch's own,
    `StoreUnreadable`, `StoreUnwritable`.
    """
    objects = warehouse.objects
    name = objects.place("").rstrip("/").rpartition("/")[2]
    if not name.startswith(BRANCH_PREFIX) or name == BRANCH_PREFIX:
        raise ChangeRefused(
            f"`{objects.place('')}` is not removed: it is not the folder of a branch, which begins"
            f" with `{BRANCH_PREFIX}`"
        )
    found = list_branch_folder(warehouse)

    def remove(path: str) -> None:
        check()
        objects.delete([path])

    with ThreadPoolExecutor(_DELETE_THREADS, "rocky-drop") as pool:
        for paths in (found.data, found.logs):
            for _ in pool.map(remove, paths):
                pass
    folder = objects.location.folder
    if folder is not None:
        # What is left are empty folders, unless something of others is in them.
        remove_empty_folders(folder, _folders_below(warehouse))
        remove_empty_folders(folder.parent, [folder.name])
    return len(found.own)


def _folders_below(warehouse: Warehouse) -> list[str]:
    found: list[str] = []
    waiting = [""]
    while waiting:
        below = warehouse.objects.folders(waiting.pop())
        found += below
        waiting += below
    return found


def _all_paths(warehouse: Warehouse) -> Iterator[tuple[str, bool]]:
    """What lies there, and whether it is a file: a link and a mount point are none."""
    folder = warehouse.objects.location.folder
    if folder is None:
        yield from ((info.path, True) for info in warehouse.objects.list(""))
        return
    try:
        yield from ((each.path, each.is_file) for each in walk_folder(folder))
    except OSError as error:
        raise StoreUnreadable(f"could not list `{folder}`: {error.strerror or error}") from error


def _names_in_logs(warehouse: Warehouse, prefixes: Set[str]) -> Iterator[str]:
    if not prefixes:
        return
    for table in warehouse.tables():
        if table.prefix not in prefixes:
            continue
        try:
            yield from _names_in_log(table)
        except (StoreUnreadable, ValueError, KeyError, TypeError):
            # A log that cannot be read names nothing; what Rocky named is known without it.
            continue


def _names_in_log(table: Table) -> Iterator[str]:
    for action in table.log.all_actions():
        for kind in ("add", "remove"):
            path = parse_path(action[kind]) if action.get(kind) else ""
            if path and not is_uri(path):
                yield f"{table.prefix}/{path}"


def _is_own_name(path: str) -> bool:
    """Whether a path is one that only Rocky gives."""
    parts = path.split("/")
    if parts[0] == RESERVED:
        return True
    in_table = parts[_TABLE_PARTS:]
    if len(in_table) == 1:
        name = in_table[0]
        half = name.removeprefix("_").removesuffix(_COPY_SUFFIX).rpartition(".")[0]
        return (
            name == GUARD
            or is_addressed(name)
            or (name.endswith(_COPY_SUFFIX) and is_addressed(half))
        )
    return bool(in_table) and in_table[0] in (STAGING, _ICEBERG)
