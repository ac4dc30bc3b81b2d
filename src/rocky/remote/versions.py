"""Copies of older schemas: the newest is brought forward under this schema's name.

The older one stays as it is, for machines with an older Rocky; what those record from then on stays
with them.
"""

from pathlib import Path

from rocky.errors import LedgerUnreadable
from rocky.ledger.copies import bring_forward
from rocky.ledger.schema import SCHEMA_VERSION
from rocky.remote.copies import Copy, Overtaken, Shelf
from rocky.remote.events import Outcome
from rocky.remote.names import copy_name
from rocky.remote.transfer import Transfer, TransferFailed


def bring_older_forward(shelf: Shelf, transfer: Transfer, scratch: Path) -> Copy | None:
    """The copy of this schema, made from an older one's; None when there is none of those either.

    Raises TransferFailed.
    """
    for version in range(SCHEMA_VERSION - 1, 0, -1):
        older = copy_name(version)
        found = _load(shelf, transfer, older)
        if found is None:
            continue
        scratch.write_bytes(found.data)
        try:
            bring_forward(scratch)
        except LedgerUnreadable as error:
            why = f"the copy at `{shelf.place(older)}` is not a whole state file"
            raise TransferFailed(Outcome.ERROR, why) from error
        return _create(shelf, transfer, copy_name(), scratch.read_bytes())
    return None


def _create(shelf: Shelf, transfer: Transfer, name: str, data: bytes) -> Copy | None:
    try:
        return Copy(transfer.call(lambda: shelf.swap(name, data, None)), data)
    except Overtaken:
        # Another machine was faster, or our own answer got lost: that one counts.
        return _load(shelf, transfer, name)


def _load(shelf: Shelf, transfer: Transfer, name: str) -> Copy | None:
    return transfer.call(lambda: shelf.load(name))
