"""What a warehouse says of the ledgers that write to it, looked at before anything is removed.

A ledger that was replaced by an older copy has lost runs, and with them what they need; only the
anchor in the warehouse can tell. Another ledger's anchor says that its runs may need what is here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from rocky.errors import StoreUnreadable
from rocky.store.anchors import Anchor, anchored_ledgers, read_anchor
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Anchors:
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


def load_anchors(warehouse: Warehouse) -> Anchors:
    """All anchors in a warehouse."""
    try:
        found = {each: read_anchor(warehouse, each) for each in anchored_ledgers(warehouse)}
    except StoreUnreadable as error:
        return Anchors(doubt=str(error))
    return Anchors({each: anchor for each, anchor in found.items() if anchor is not None})


def doubt_about(anchors: Anchors, ledger_id: str | None, heads: Mapping[int, str]) -> str | None:
    """Why a ledger, by the heads its chain had, may not decide about a warehouse, if so."""
    if anchors.doubt is not None:
        return anchors.doubt
    mine = anchors.of_ledger.get(ledger_id or "")
    if mine is not None and heads.get(mine.seq) != mine.head:
        return (
            "the state file was replaced by an older copy: the warehouse knows of records that it"
            " has not; `rocky verify` says more"
        )
    return None
