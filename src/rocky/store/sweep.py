"""Sweeping: files that no version of a table refers to, left by writers that died.

A new write may reuse an old leftover of the same bytes, so sweep only where nobody is writing the
table; `older_than_ms` guards against writers one does not know of.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final, NamedTuple

from rocky.store.actions import parse_path
from rocky.store.files import is_addressed
from rocky.store.objects import ObjectInfo
from rocky.store.warehouse import STAGING, Table

_THREADS: Final = 16


class StoredFiles(NamedTuple):
    """The files in a table's folder that are Rocky's to remove: data, and what was staged."""

    data: tuple[ObjectInfo, ...]
    staged: tuple[ObjectInfo, ...]


def list_files(table: Table) -> StoredFiles:
    """The data and staged files of a table; not its log, nor what others keep in its folder."""
    start = len(table.prefix) + 1
    data, staged = [], []
    for info in table.objects.list(table.prefix):
        path = info.path[start:]
        if path.startswith(f"{STAGING}/"):
            staged.append(info)
        elif is_addressed(path):
            data.append(info)
    return StoredFiles(tuple(data), tuple(staged))


def find_leftovers(table: Table, older_than_ms: int) -> tuple[ObjectInfo, ...]:
    """Staged and data files last written before a time (in ms) that no version refers to.

    A file that any commit or checkpoint still in the log adds or removes is referred to: an older
    version can be read as long as its commit is there.
    """
    referred = set(_referred_paths(table))
    start = len(table.prefix) + 1
    files = list_files(table)
    unreferred = (info for info in files.data if info.path[start:] not in referred)
    return tuple(info for info in (*unreferred, *files.staged) if info.modified_ms < older_than_ms)


def sweep_table(table: Table, older_than_ms: int) -> tuple[ObjectInfo, ...]:
    """Delete the leftovers of a table; what was deleted."""
    return remove_files(table, find_leftovers(table, older_than_ms))


def remove_files(table: Table, files: Iterable[ObjectInfo]) -> tuple[ObjectInfo, ...]:
    """Delete files that are still as they were listed; what was deleted. Raises StoreUnwritable."""

    def remove(info: ObjectInfo) -> bool:
        # Somebody may have written it anew since it was listed.
        if table.objects.info(info.path) != info:
            return False
        table.objects.delete([info.path])
        return True

    listed = list(files)
    with ThreadPoolExecutor(_THREADS, "rocky-sweep") as pool:
        removed = tuple(
            info for info, gone in zip(listed, pool.map(remove, listed), strict=True) if gone
        )
    _remove_empty_folders(table, removed)
    return removed


def _remove_empty_folders(table: Table, removed: Iterable[ObjectInfo]) -> None:
    """The folders of what was staged; in an object store there are none."""
    root = table.objects.local_path(f"{table.prefix}/{STAGING}")
    if root is None:
        return
    files = (table.objects.local_path(info.path) for info in removed)
    parents = {parent for file in files if file is not None for parent in file.parents}
    below = [each for each in parents if each == root or root in each.parents]
    for folder in sorted(below, key=lambda each: len(each.parts), reverse=True):
        # Not empty, or gone: either way it is not ours to remove.
        with suppress(OSError):
            folder.rmdir()


def _referred_paths(table: Table) -> Iterator[str]:
    for action in table.log.all_actions():
        for kind in ("add", "remove"):
            if action.get(kind):
                yield parse_path(action[kind])
