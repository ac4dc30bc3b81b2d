"""Recovering: promotions and reverts that were interrupted, finished or undone.

A journal whose work is recorded was only left lying about. Any other is carried on: whoever was at
it is dead, or the claim would say so.
"""

from dataclasses import dataclass
from datetime import datetime

from rocky.branches.promotion.carrying_out import finish_journal
from rocky.branches.promotion.working import Watch, nobody, work_on
from rocky.errors import NothingSelected, PromotionUndone, PromotionUnfinished
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.branching import load_promotions
from rocky.project.models import Target
from rocky.run.opened import OpenedRun
from rocky.store.journals import Journal, load_journals, remove_journal


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came of one interrupted promotion.

    `record` is that of the one who finished it, or its own where it had been recorded; `undone`
    says why nothing was moved.
    """

    run_id: str
    branch: str
    record: PromotionRecord | None = None
    undone: str | None = None


def recover_promotions(
    opened: OpenedRun, now: datetime, watch: Watch = nobody
) -> tuple[Recovered, ...]:
    """Finish or undo everything that was interrupted; what came of it, oldest first.

    Raises LedgerLocked while whoever began it is at work, and PromotionUnfinished for a journal
    of another ledger.
    """
    warehouse = opened.surroundings.warehouse
    return tuple(_recover(opened, each, now, watch) for each in load_journals(warehouse))


def _recover(opened: OpenedRun, journal: Journal, now: datetime, watch: Watch) -> Recovered:
    around = opened.surroundings
    ledger = around.ledger
    branch = str(journal.record.get("branch", ""))
    if journal.ledger_id != ledger.ledger_id:
        raise PromotionUnfinished(
            f"promotion `{journal.run_id}` was begun under another state file (ledger"
            f" `{journal.ledger_id}`): recover it with that one; if it is lost, `rocky branch"
            f" recover --forget {journal.run_id}` leaves the tables as they are"
        )
    known = next(
        (
            each
            for each in load_promotions(ledger.path)
            if journal.run_id in (each.run_id, each.recovers)
        ),
        None,
    )
    if known is not None:
        # All was recorded, in one piece, and only the journal was not removed.
        remove_journal(around.warehouse, journal.run_id)
        undone = known.reason if known.kind == "undone" else None
        return Recovered(journal.run_id, branch, known, undone)
    targets = [each.target for each in journal.tables]
    try:
        what = f"branch recover {journal.run_id}"
        with work_on(opened, targets, what, now, watch, finishing=True) as work:
            return Recovered(journal.run_id, branch, finish_journal(work, journal))
    except PromotionUndone as undone_because:
        return Recovered(journal.run_id, branch, undone=str(undone_because))


def forget_promotion(opened: OpenedRun, run_id: str) -> dict[str, bool]:
    """Give up an interrupted promotion of a ledger that is lost: which of its tables had moved.

    Raises NothingSelected when there is none, and PromotionUnfinished when it can be finished.
    """
    around = opened.surroundings
    journal = next(
        (each for each in load_journals(around.warehouse) if each.run_id == run_id), None
    )
    if journal is None:
        raise NothingSelected(f"no promotion `{run_id}` was interrupted")
    if journal.ledger_id == around.ledger.ledger_id:
        raise PromotionUnfinished(f"`{run_id}` can be finished: `rocky branch recover` does it")
    moved = {}
    for each in journal.tables:
        latest = around.warehouse.table(Target(*each.prefix.split("/"))).snapshot()
        moved[each.target] = latest is not None and latest.version >= each.version
    remove_journal(around.warehouse, run_id)
    return moved
