"""An anchor: where a ledger's chain ended, noted in the warehouse where the ledger does not lie.

A ledger that was replaced by an older copy of itself is whole in itself; only somebody else can
tell that there was more. So an anchor is replaced only by a ledger that knows it: a ledger which
does not has been rolled back, and must not wipe out the trace of it.

Anchors and tables also tell where a recorded warehouse lies now. A project may have been moved
with its tables; only when nothing is left at the recorded location are they looked for in the
project's only warehouse. But a copy of a project works on its own tables, also while those it was
copied from are there.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rocky.canonical import canonical_json
from rocky.errors import InternalError, StoreUnreadable
from rocky.store.warehouse import RESERVED, Warehouse

ANCHOR_FOLDER: Final = RESERVED

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_LEDGER_ID: Final = re.compile(r"[0-9a-f]{32}")
_SUFFIX: Final = ".json"
_TRIES: Final = 3
"""Looks at the anchor: whoever read before this one wrote may write an older one after it."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The head of a ledger's chain and its number, as a run left them."""

    head: str
    seq: int
    run_id: str
    recorded_at: datetime


def write_anchor(
    warehouse: Warehouse, ledger_id: str, anchor: Anchor, is_known: Callable[[Anchor], bool]
) -> bool:
    """Whether the anchor was moved, or stands further on: False when what is there is not known.

    `is_known` asks the ledger whether its chain has an anchor's head. Raises `StoreUnreadable`
    when the anchor that is there cannot be read, and `StoreUnwritable`.
    """
    for _ in range(_TRIES):
        found = read_anchor(warehouse, ledger_id)
        if found is not None and found.head != anchor.head and not is_known(found):
            return False
        # A run beside this one may have got further.
        if found is not None and found.seq >= anchor.seq:
            break
        warehouse.objects.put(anchor_path(ledger_id), _format_anchor(anchor))
    return True


def renew_anchor(
    warehouse: Warehouse, ledger_id: str, anchor: Anchor, is_known: Callable[[Anchor], bool]
) -> None:
    """Put an anchor in the place of one that is not known, or cannot be read.

    Only where somebody has decided that the ledger goes on from here. Raises `StoreUnwritable`.
    """
    try:
        found = read_anchor(warehouse, ledger_id)
        is_stale = found is not None and not is_known(found)
    except StoreUnreadable:
        is_stale = True
    if is_stale:
        warehouse.objects.put(anchor_path(ledger_id), _format_anchor(anchor))


def read_anchor(warehouse: Warehouse, ledger_id: str) -> Anchor | None:
    """A ledger's anchor; None only when there truly is none. Raises `StoreUnreadable`."""
    path = anchor_path(ledger_id)
    data = warehouse.objects.read(path)
    if data is None:
        return None
    try:
        anchor = _parse_anchor(data)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise StoreUnreadable(
            f"could not read `{warehouse.objects.place(path)}`: it is damaged ({error});"
            " `rocky verify` says what else does not fit"
        ) from error
    if _format_anchor(anchor) != data:
        raise StoreUnreadable(
            f"could not read `{warehouse.objects.place(path)}`: it is not in the form of an anchor"
        )
    return anchor


def anchored_ledgers(warehouse: Warehouse) -> list[str]:
    """The ids of all ledgers that have an anchor here, sorted."""
    names = (info.path.rpartition("/")[2] for info in warehouse.objects.list(ANCHOR_FOLDER))
    ids = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
    return sorted(each for each in ids if _LEDGER_ID.fullmatch(each))


def anchor_path(ledger_id: str) -> str:
    """Where a ledger's anchor lies, below the warehouse's root."""
    if not _LEDGER_ID.fullmatch(ledger_id):
        raise InternalError(f"`{ledger_id}` is not the id of a ledger")
    return f"{ANCHOR_FOLDER}/{ledger_id}{_SUFFIX}"


def _format_anchor(anchor: Anchor) -> bytes:
    document = {
        "head": anchor.head,
        "recorded_at": anchor.recorded_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "run_id": anchor.run_id,
        "seq": anchor.seq,
    }
    return canonical_json(document).encode()


def _parse_anchor(data: bytes) -> Anchor:
    found: dict[str, Any] = json.loads(data)
    anchor = Anchor(
        found["head"],
        found["seq"],
        found["run_id"],
        datetime.fromisoformat(found["recorded_at"]),
    )
    if type(anchor.seq) is not int or not _HASH.fullmatch(anchor.head):
        raise ValueError("it names no head of a chain")
    if not isinstance(anchor.run_id, str):
        raise TypeError("it names no run")
    return anchor


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
    # Several adapters may share one.
    places = {each.objects.place(""): each for each in known}
    copies = [
        each for each in places.values() if root is not None and _is_copy(each, recorded, root)
    ]
    if len(copies) == 1:
        return copies[0]
    return known[0] if len(places) == 1 and not _is_there(recorded) else recorded


def _is_copy(own: Warehouse, recorded: Warehouse, root: Path) -> bool:
    """Whether a warehouse lies in its project where another lay in another folder of it.

    Both know the same ledger then. One that was moved elsewhere by a setting has another place in
    the project.
    """
    here, there = own.objects.location.folder, recorded.objects.location.folder
    if here is None or there is None or not there.is_dir():
        return False
    # The project may have been entered by a link.
    here, top = here.resolve(), root.resolve()
    if not here.is_relative_to(top):
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
