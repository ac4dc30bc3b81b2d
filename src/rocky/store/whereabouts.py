"""Whereabouts: where a warehouse that was recorded lies now.

A project may have been moved with its tables, so a recorded place may be gone; then, and only then,
they are looked for in the project's only warehouse. A place where there still is something counts:
a project that was given another warehouse left its former tables there.
"""

from collections.abc import Callable, Sequence

from rocky.errors import StoreUnreadable
from rocky.store.anchors import anchored_ledgers
from rocky.store.warehouse import Warehouse


def find_recorded_warehouse(
    place: str, known: Sequence[Warehouse], reopen: Callable[[str], Warehouse]
) -> Warehouse:
    """The warehouse that was recorded at a place; `known` are those the project has now."""
    for warehouse in known:
        if warehouse.objects.place("") == place:
            return warehouse
    recorded = reopen(place)
    places = {each.objects.place("") for each in known}
    return known[0] if len(places) == 1 and not _is_there(recorded) else recorded


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
