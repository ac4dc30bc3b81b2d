"""Anchors, checked: what a warehouse remembers of a ledger that the ledger itself may have lost.

A run moves the anchor when it begins and when it ends. So whatever the newest anchor does not cover
was written by a run that it saw begin, or that could leave none: anything else was added later.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.evidence.chain import Chain
from rocky.evidence.findings import FindingCode, Findings
from rocky.evidence.order import Order
from rocky.evidence.removals import is_upkeep
from rocky.ledger.chain import CHAIN_TABLE, entry_key
from rocky.ledger.records import RunRecord, RunStatus
from rocky.store.anchors import Anchor, anchor_path, read_anchor
from rocky.store.warehouse import Warehouse

_SLACK: Final = timedelta(minutes=10)
"""How long after its end a run may take to leave its anchor."""


def check_anchor(
    warehouse: Warehouse,
    ledger_id: str,
    chain: Chain,
    order: Order,
    runs: Iterable[RunRecord],
    findings: Findings,
) -> int | None:
    """The number of an anchor that is in the chain; None where there is none that fits.

    `runs` are those that wrote here.
    """
    known: dict[str, RunRecord] = {run.run_id: run for run in runs}
    where = warehouse.objects.place(anchor_path(ledger_id))
    findings.checked["anchors"] += 1
    try:
        anchor = read_anchor(warehouse, ledger_id)
    except StoreUnreadable as wrong:
        if warehouse.objects.read(anchor_path(ledger_id)) is None:
            raise
        findings.add(FindingCode.RECORD_MALFORMED, where, str(wrong))
        return None
    if anchor is None:
        left = [run for run in known.values() if run.anchored]
        why = f"run `{left[0].run_id}` left an anchor here, and it is gone" if left else ""
        findings.expect(not left, FindingCode.ANCHOR_MISSING, where, why)
        return None
    if anchor.seq > max(chain.heads, default=0):
        findings.add(
            FindingCode.ANCHOR_AHEAD,
            where,
            f"the chain had {anchor.seq} entries when it was written and has"
            f" {max(chain.heads, default=0)} now: the ledger was rolled back to an older copy",
        )
        return None
    findings.expect(
        chain.heads.get(anchor.seq) == anchor.head,
        FindingCode.HEAD_UNKNOWN,
        where,
        f"entry {anchor.seq} of the chain has another hash now: the ledger was rewritten",
    )
    run = known.get(anchor.run_id)
    if run is None:
        why = f"it names run `{anchor.run_id}`, which the ledger does not have"
        findings.add(FindingCode.HEAD_UNKNOWN, where, why)
    else:
        findings.expect(
            _could_leave(run, anchor, order),
            FindingCode.HEAD_UNKNOWN,
            where,
            f"run `{run.run_id}` cannot have left it: not at this entry, or not at this time",
        )
    return anchor.seq


def _could_leave(run: RunRecord, anchor: Anchor, order: Order) -> bool:
    """Whether a run can have left an anchor, or upkeep that named it as the newest run."""
    if order.begun.get(run.run_id, 0) > anchor.seq or anchor.recorded_at < run.started_at:
        return False
    closed = order.closed.get(run.run_id, anchor.seq)
    late = run.finished_at is not None and anchor.recorded_at > run.finished_at + _SLACK
    overtaken = any(
        closed < order.begun[other] and end <= anchor.seq for other, end in order.closed.items()
    )
    return not (late or overtaken) or any(
        is_upkeep(entry) and closed < entry.seq <= anchor.seq for entry, _ in order.owners
    )


def check_covered(
    newest: int, order: Order, runs: Mapping[str, RunRecord], findings: Findings
) -> None:
    """What the newest anchor does not cover must be the work of runs that could not move it."""
    beyond = [(entry, runs.get(owner or "")) for entry, owner in order.owners if entry.seq > newest]
    added = [entry for entry, run in beyond if run is None or not _may_be_ahead(run, newest, order)]
    if added:
        findings.add(
            FindingCode.ANCHOR_BEHIND,
            f"{CHAIN_TABLE} {entry_key(added[0].seq)}",
            f"{len(added)} entries, first of `{added[0].table} {added[0].key}`, are newer than the"
            f" anchor, which ends at {newest}: records were added after the last run ended, or an"
            " older anchor was put back",
        )


def _may_be_ahead(run: RunRecord, newest: int, order: Order) -> bool:
    if order.closed.get(run.run_id, newest + 1) <= newest:
        return False
    if run.status is RunStatus.RUNNING or run.reason is not None or not run.anchored:
        return True
    # It saw the run begin; the run was killed before it could say that it had ended.
    return order.begun[run.run_id] <= newest
