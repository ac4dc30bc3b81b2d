"""Anchors: the ledger's head left with the tables, so that a ledger that is put back is found."""

from datetime import UTC, datetime

from rocky.ledger.chain import Head
from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger
from rocky.store.anchors import Anchor, write_anchor
from rocky.store.warehouse import Warehouse


def leave_anchor(
    warehouse: Warehouse, ledger: Ledger, head: Head, run_id: RunId, now: datetime | None = None
) -> bool:
    """Whether the head was left: not so when the tables know a later one than the ledger.

    Raises StoreUnreadable, StoreUnwritable.
    """
    return write_anchor(
        warehouse,
        ledger.ledger_id,
        Anchor(head.entry_hash, head.seq, run_id, now or datetime.now(UTC)),
        lambda found: ledger.knows(Head(found.seq, found.head)),
    )
