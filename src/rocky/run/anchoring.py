"""Anchors: the ledger's head left with the tables, so that a ledger that is put back is found."""

from datetime import UTC, datetime

from rocky.ledger.chain import Head
from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger
from rocky.run.published import RemoteState
from rocky.store.anchors import Anchor, write_anchor
from rocky.store.warehouse import Warehouse


def leave_anchor(
    warehouse: Warehouse,
    ledger: Ledger,
    head: Head,
    run_id: RunId,
    now: datetime | None = None,
    remote: RemoteState | None = None,
) -> bool:
    """Whether the head was left: not so when the tables know a later one than the ledger.

    A ledger that is kept elsewhere may have gone on there, and other machines leave anchors too.
    Raises StoreUnreadable, StoreUnwritable.
    """
    return write_anchor(
        warehouse,
        ledger.ledger_id,
        Anchor(head.entry_hash, head.seq, run_id, now or datetime.now(UTC)),
        lambda found: _is_known(Head(found.seq, found.head), ledger, remote),
    )


def _is_known(head: Head, ledger: Ledger, remote: RemoteState | None) -> bool:
    return ledger.knows(head) or (remote is not None and remote.is_remote and remote.knows(head))
