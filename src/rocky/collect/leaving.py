"""Leaving an anchor after upkeep: the tables must know how far the ledger is.

Without it, what a command has removed would look like what somebody removed by hand.
"""

from collections.abc import Callable
from datetime import datetime

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.ledger import Ledger, open_evidence
from rocky.ledger.chain import Head
from rocky.ledger.rows import load_json
from rocky.store.anchors import Anchor, write_anchor
from rocky.store.warehouse import Warehouse


def leave_anchors(
    ledger: Ledger, open_warehouse: Callable[[str], Warehouse], now: datetime
) -> list[str]:
    """Note the ledger's head in each warehouse that its runs wrote to; what to warn of."""
    head, warnings = ledger.head(), []
    for place, newest in newest_runs(ledger).items():
        anchor = Anchor(head.entry_hash, head.seq, newest, now)
        try:
            known = write_anchor(
                open_warehouse(place),
                ledger.ledger_id,
                anchor,
                lambda found: ledger.knows(Head(found.seq, found.head)),
            )
        except (StoreUnreadable, StoreUnwritable) as error:
            warnings.append(f"the state of the ledger could not be left with the tables: {error}")
            continue
        if not known:
            warnings.append(
                f"the tables know a later state of `{ledger.path.name}` than the file itself: it"
                " was put back to an older copy, or changed; `rocky verify` says more"
            )
    return warnings


def newest_runs(ledger: Ledger) -> dict[str, str]:
    """The newest run of each warehouse, by its place."""
    reader = open_evidence(ledger.path)
    found: dict[str, str] = {}
    if reader is None:
        return found
    with reader:
        for key, value in reader.rows("run_history"):
            place = load_json(ledger.path, "run_history", key, value).get("warehouse")
            if place is not None:
                found[str(place)] = key
    return found
