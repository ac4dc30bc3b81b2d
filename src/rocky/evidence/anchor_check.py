"""Anchors, checked: what a warehouse remembers of a ledger that the ledger itself may have lost."""

from collections.abc import Iterable

from rocky.errors import StoreUnreadable
from rocky.evidence.chain import Chain
from rocky.evidence.findings import FindingCode, Findings
from rocky.ledger.records import RunRecord
from rocky.store.anchors import anchor_path, read_anchor
from rocky.store.warehouse import Warehouse


def check_anchor(
    warehouse: Warehouse,
    ledger_id: str,
    chain: Chain,
    runs: Iterable[RunRecord],
    findings: Findings,
) -> None:
    """The anchor of a ledger must be in its chain. `runs` are those that wrote here."""
    known = {run.run_id: run for run in runs}
    where = warehouse.objects.place(anchor_path(ledger_id))
    findings.checked["anchors"] += 1
    try:
        anchor = read_anchor(warehouse, ledger_id)
    except StoreUnreadable as wrong:
        if warehouse.objects.read(anchor_path(ledger_id)) is None:
            raise
        findings.add(FindingCode.RECORD_MALFORMED, where, str(wrong))
        return
    if anchor is None:
        left = [run for run in known.values() if run.anchored]
        why = f"run `{left[0].run_id}` left an anchor here, and it is gone" if left else ""
        findings.expect(not left, FindingCode.ANCHOR_MISSING, where, why)
        return
    if anchor.seq > max(chain.heads, default=0):
        findings.add(
            FindingCode.ANCHOR_AHEAD,
            where,
            f"the chain had {anchor.seq} entries when it was written and has"
            f" {max(chain.heads, default=0)} now: the ledger was rolled back to an older copy",
        )
        return
    findings.expect(
        chain.heads.get(anchor.seq) == anchor.head,
        FindingCode.HEAD_UNKNOWN,
        where,
        f"entry {anchor.seq} of the chain has another hash now: the ledger was rewritten",
    )
    findings.expect(
        anchor.run_id in known,
        FindingCode.HEAD_UNKNOWN,
        where,
        f"it names run `{anchor.run_id}`, which the ledger does not have",
    )
