"""A promotion as a run of production's ledger: cleared, begun, claimed and finished."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from rocky.branches.promotion.clearance import Clearance, RecoveryClearance
from rocky.errors import RockyError, StoreUnreadable, StoreUnwritable
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunRecord, RunStatus, TotalsRecord
from rocky.ledger.writer import RunFindings
from rocky.run.prepare.claims import (
    begin_run,
    is_remote_unreadable,
    visible_head,
    write_ledger_anchor,
)
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
    """A promotion that was cleared and has begun. `moved` counts the tables that were moved."""

    opened: RunSession
    clearance: Clearance
    run_id: RunId
    authority: CommitAuthority
    now: datetime
    watch: OnStep = ignore_step
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
    resources = opened.resources
    record = _run_record(opened, clearance.what, now)
    finishing = isinstance(clearance, RecoveryClearance)
    with ExitStack() as held:
        run_id, authority = begin_run(resources, record, tables, held, finishing=finishing)
        if resources.on_begin is not None:
            resources.on_begin(run_id)
        work = PromotionRun(opened, clearance, run_id, authority, now, watch)
        try:
            yield work
        except BaseException as error:
            said = str(error) if isinstance(error, RockyError) else type(error).__name__
            resources.ledger.finish_run(
                run_id, RunStatus.FAILURE, resources.clock(), reason=said or type(error).__name__
            )
            raise
        anchored = _leave_anchor(work)
        found = RunFindings(TotalsRecord(models=work.moved))
        resources.ledger.finish_run(
            run_id, RunStatus.SUCCESS, resources.clock(), found=found, anchored=anchored
        )
        _leave_anchor(work)


def _run_record(opened: RunSession, what: str, now: datetime) -> RunRecord:
    resources = opened.resources
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    return replace(record, selection=(what,), unvouched=is_remote_unreadable(resources) or None)


def _leave_anchor(work: PromotionRun) -> bool:
    """Whether the ledger's head was left with the tables; a warning where it could not be."""
    resources = work.opened.resources
    if is_remote_unreadable(resources):
        return False
    try:
        return write_ledger_anchor(
            resources.warehouse,
            resources.ledger,
            visible_head(resources),
            work.run_id,
            resources.clock(),
            resources.remote,
        )
    except (StoreUnreadable, StoreUnwritable) as error:
        work.opened.caller.warn(f"could not write the ledger's anchor to the warehouse: {error}")
        return False
