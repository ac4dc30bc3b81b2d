"""Whereabouts: where a warehouse that was recorded lies now.

A project may have been moved with its tables, so a recorded place may be gone; then, and only then,
they are looked for in the project's only warehouse. A place where there still is something counts:
a project that was given another warehouse left its former tables there. But a copy of a project
works on its own tables, also while those it was copied from are there.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from rocky.errors import StoreUnreadable
from rocky.store.anchors import anchored_ledgers
from rocky.store.warehouse import Warehouse


def find_recorded_warehouse(
    place: str,
    known: Sequence[Warehouse],
    reopen: Callable[[str], Warehouse],
    root: Path | None = None,
) -> Warehouse:
    """The warehouse that was recorded at a place; `known` are those the project has now.

    `root` is the project's folder.
    """
    for warehouse in known:
        if warehouse.objects.place("") == place:
            return warehouse
    recorded = reopen(place)
    copies = [each for each in known if root is not None and _is_copy(each, recorded, root)]
    if len(copies) == 1:
        return copies[0]
    places = {each.objects.place("") for each in known}
    return known[0] if len(places) == 1 and not _is_there(recorded) else recorded


def _is_copy(own: Warehouse, recorded: Warehouse, root: Path) -> bool:
    """Whether a warehouse lies in its project where another lay in another folder of it.

    Both know the same ledger then. One that was moved elsewhere by a setting has another place in
    the project.
    """
    here, there = own.objects.location.folder, recorded.objects.location.folder
    top = root.absolute()
    if here is None or there is None or not here.is_relative_to(top) or not there.is_dir():
        return False
    tail = here.relative_to(top).parts
    if not tail or there.parts[-len(tail) :] != tail:
        return False
    return bool(set(anchored_ledgers(own)) & set(anchored_ledgers(recorded)))


def _is_there(warehouse: Warehouse) -> bool:
    """Whether there are tables, or the anchor of a ledger."""
    folder = warehouse.objects.location.folder
    if folder is not None and not folder.is_dir():
        return False
    try:
        return bool(anchored_ledgers(warehouse)) or next(warehouse.tables(), None) is not None
    except StoreUnreadable:
        # A bucket that is gone cannot be told from one that is shut; a folder can.
        if folder is not None:
            raise
        return False
