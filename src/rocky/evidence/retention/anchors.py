"""Anchors around removals: read before anything is removed, and left again after it.

A ledger that was replaced by an older copy has lost runs, and with them what they need; only the
anchor in the warehouse can tell. Another ledger's anchor says that its runs may need what is here.
Without the one that is left, what a command has removed would look like what somebody removed by
hand.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rocky.errors import StoreUnreadable, StoreUnwritable
from rocky.ledger import Ledger, open_evidence_reader
from rocky.ledger.chain import Head
from rocky.ledger.record import load_json
from rocky.store.anchor import Anchor, anchored_ledgers, read_anchor, write_anchor
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class WarehouseAnchors:
    """The anchors in a warehouse, by ledger; `doubt` says why they cannot be told."""

    of_ledger: Mapping[str, Anchor] = field(default_factory=dict)
    doubt: str | None = None

    def others_since(self, ledger_id: str | None, moment: datetime) -> list[str]:
        """The ids of other ledgers that were written to at or after a moment."""
        return [
            each
            for each, anchor in self.of_ledger.items()
            if each != ledger_id and anchor.recorded_at >= moment
        ]


def load_anchors(warehouse: Warehouse) -> WarehouseAnchors:
    """All anchors in a warehouse."""
    try:
        found = {each: read_anchor(warehouse, each) for each in anchored_ledgers(warehouse)}
    except StoreUnreadable as error:
        return WarehouseAnchors(doubt=str(error))
    return WarehouseAnchors({each: anchor for each, anchor in found.items() if anchor is not None})


def find_doubt(
    anchors: WarehouseAnchors, ledger_id: str | None, heads: Mapping[int, str]
) -> str | None:
    """Why a ledger, by the heads its chain had, may not decide about a warehouse, if so."""
    if anchors.doubt is not None:
        return anchors.doubt
    mine = anchors.of_ledger.get(ledger_id or "")
    if mine is not None and heads.get(mine.seq) != mine.head:
        return (
            "the state file was replaced by an older copy: the warehouse has an anchor of"
            " records that it lacks; `rocky verify` says more"
        )
    return None


def leave_anchors(
    ledger: Ledger, open_warehouse: Callable[[str], Warehouse], now: datetime
) -> list[str]:
    """Note the ledger's head in each warehouse that its runs wrote to; what to warn of."""
    head, warnings = ledger.head(), []
    for place, newest in newest_run_by_warehouse(ledger).items():
        anchor = Anchor(head.entry_hash, head.seq, newest, now)
        try:
            known = write_anchor(
                open_warehouse(place),
                ledger.ledger_id,
                anchor,
                lambda found: ledger.knows(Head(found.seq, found.head)),
            )
        except (StoreUnreadable, StoreUnwritable) as error:
            warnings.append(f"could not write the ledger's anchor to the warehouse: {error}")
            continue
        if not known:
            warnings.append(
                f"the warehouse has a later anchor than `{ledger.path.name}`: the state file was"
                " replaced by an older copy, or changed; `rocky verify` says more"
            )
    return warnings


def newest_run_by_warehouse(ledger: Ledger) -> dict[str, str]:
    """The newest run of each warehouse, by its place."""
    reader = open_evidence_reader(ledger.path)
    found: dict[str, str] = {}
    if reader is None:
        return found
    with reader:
        for key, value in reader.rows("run_history"):
            place = load_json(ledger.path, "run_history", key, value).get("warehouse")
            if place is not None:
                found[str(place)] = key
    return found
