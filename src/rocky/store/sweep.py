"""Sweeping: files that no version of a table refers to, left by writers that died.

A new write may reuse an old leftover of the same bytes, so sweep only where nobody is writing the
table; `older_than_ms` guards against writers one does not know of.
"""

import re
from collections.abc import Iterator
from typing import Final

from rocky.store.actions import parse_path
from rocky.store.objects import ObjectInfo
from rocky.store.warehouse import STAGING, Table

_DATA_FILE: Final = re.compile(r"[0-9a-f]{64}\.parquet")


def find_leftovers(table: Table, older_than_ms: int) -> tuple[ObjectInfo, ...]:
    """Staged and data files last written before a time (in ms) that no version refers to.

    A file that any commit or checkpoint still in the log adds or removes is referred to: an older
    version can be read as long as its commit is there.
    """
    referred = set(_referred_paths(table))
    start = len(table.prefix) + 1
    return tuple(
        info
        for info in table.objects.list(table.prefix)
        if info.modified_ms < older_than_ms and _is_leftover(info.path[start:], referred)
    )


def sweep_table(table: Table, older_than_ms: int) -> tuple[ObjectInfo, ...]:
    """Delete the leftovers of a table; what was deleted."""
    leftovers = find_leftovers(table, older_than_ms)
    swept = []
    for info in leftovers:
        # Somebody may have written it anew since it was listed.
        if table.objects.info(info.path) == info:
            table.objects.delete([info.path])
            swept.append(info)
    return tuple(swept)


def _referred_paths(table: Table) -> Iterator[str]:
    for action in table.log.all_actions():
        for kind in ("add", "remove"):
            if action.get(kind):
                yield parse_path(action[kind])


def _is_leftover(path: str, referred: set[str]) -> bool:
    if path.startswith(f"{STAGING}/"):
        return True
    return _DATA_FILE.fullmatch(path) is not None and path not in referred
