"""A promotion as a run of production's ledger: cleared, begun, claimed and finished."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from rocky.branches.promotion.clearance import Clearance, RecoveryClearance
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunRecord
from rocky.run.prepare.claims import open_recorded_run
from rocky.run.prepare.session import RunSession
from rocky.store.delta.signature import CommitAuthority
from rocky.store.warehouse import Table

OnStep = Callable[[str], None]
"""Told of every step before it is taken, so that tests can stop at each."""


def ignore_step(_step: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Actor:
    """Who moves production's tables, when, beside which code, and why."""

    by: str
    at: datetime
    git_commit: str | None = None
    git_dirty: bool | None = None
    reason: str | None = None


@dataclass(slots=True)
class PromotionRun:
    """A promotion that was cleared and has begun. `moved` counts the tables that were moved.

    `check_claim` raises ClaimLost when others may have taken over its tables since it began.
    """

    opened: RunSession
    clearance: Clearance
    run_id: RunId
    authority: CommitAuthority
    now: datetime
    watch: OnStep = ignore_step
    check_claim: Callable[[], None] = lambda: None
    moved: int = 0


@contextmanager
def open_promotion_run(
    opened: RunSession,
    clearance: Clearance,
    tables: Sequence[Table],
    now: datetime,
    watch: OnStep = ignore_step,
) -> Iterator[PromotionRun]:
    """Inside, the tables are claimed and a run is recorded, which ends as the block does.

    Raises LedgerLocked when a run writes one of the tables, PromotionUnfinished while an earlier
    promotion is not, unless it is that which was cleared, and what a remote state raises.
    """
    record = _run_record(opened, clearance.what, now)
    with open_recorded_run(
        opened.resources,
        record,
        tables,
        opened.caller.warn,
        finishing=isinstance(clearance, RecoveryClearance),
    ) as (begun, moved):
        work = PromotionRun(
            opened, clearance, begun.run_id, begun.authority, now, watch, begun.check_unbroken
        )
        yield work
        moved(work.moved)


def _run_record(opened: RunSession, what: str, now: datetime) -> RunRecord:
    resources = opened.resources
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    return replace(record, selection=(what,))
