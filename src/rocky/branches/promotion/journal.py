"""The journal of a promotion or revert: from its writing to its removal, or to its recovery.

A promotion, a revert and the recovery of either differ in where their moves come from; from the
journal on they are the same. A journal whose work is recorded was only left lying about. Any other
is carried on: whoever was at it is dead, or the claim would say so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NoReturn

from rocky.branches.promotion.clearance import clear_recovery, is_own_journal
from rocky.branches.promotion.moves import (
    LostTable,
    PreparedMove,
    add_checkpoint,
    commit_moves,
    journal_moves,
    restore_prepared,
    undo_moves,
)
from rocky.branches.promotion.promotion_run import (
    OnStep,
    PromotionRun,
    ignore_step,
    open_promotion_run,
)
from rocky.errors import (
    NothingSelected,
    PromotionUndone,
    PromotionUnfinished,
    StoreUnreadable,
    StoreUnwritable,
)
from rocky.ledger.branch_records import UNDONE, PromotionRecord
from rocky.ledger.branches import (
    adopt_records,
    load_promotions,
    record_promotion_tables,
    records_from_json,
)
from rocky.ledger.record import RunId
from rocky.ledger.writer import ModelRecords
from rocky.project.models import Target
from rocky.run.prepare.session import RunSession
from rocky.store.delta.change import Committed
from rocky.store.journal import Journal, PreparedCommit, load_journals, remove_journal
from rocky.store.warehouse import Table


def move_tables(
    work: PromotionRun,
    promotion: PromotionRecord,
    moves: Sequence[PreparedMove],
    records: Sequence[ModelRecords],
    beside: Sequence[ModelRecords] = (),
) -> PromotionRecord:
    """Move the tables, and record that they were. Raises PromotionUndone when they could not all.

    `beside` is recorded too, of tables that do not move.
    """
    work.watch("journal")
    journal = journal_moves(work, promotion, moves, records, beside)
    commits = [(each.move.table, each.commit) for each in moves]
    known = {each.move.table.name: record for each, record in zip(moves, records, strict=True)}
    return _finish(work, journal, promotion, commits, (known, beside))


def _finish_journal(work: PromotionRun, journal: Journal) -> PromotionRecord:
    """Finish what a process that died has begun. Raises PromotionUndone when it cannot be."""
    warehouse = work.opened.resources.warehouse
    made_by = RunId(journal.run_id)
    commits, known, lost = [], {}, []
    for each in journal.tables:
        table = warehouse.table(Target(*each.prefix.split("/")))
        prepared = restore_prepared(table, each, made_by)
        if isinstance(prepared, LostTable):
            lost.append(prepared)
        else:
            commits.append((table, prepared))
        records = records_from_json(journal.details[each.target])
        known[each.target] = adopt_records(records, work.run_id, made_by)
    promotion = replace(
        PromotionRecord.from_json(journal.record), run_id=work.run_id, recovers=made_by
    )
    moving = {each.target for each in journal.tables}
    beside = [
        adopt_records(records_from_json(found), work.run_id, made_by)
        for target, found in journal.details.items()
        if target not in moving
    ]
    if lost:
        # Those that have moved go back, and no further one moves.
        moved = [each for each in commits if _is_committed(*each)]
        made = {
            table.name: commit_moves(work, journal, [(table, each)])[0] for table, each in moved
        }
        done = {name: each for name, each in made.items() if isinstance(each, Committed)}
        _undo(work, journal, promotion, (done, lost), known)
    return _finish(work, journal, promotion, commits, (known, beside))


def _is_committed(table: Table, prepared: PreparedCommit) -> bool:
    latest = table.snapshot()
    return latest is not None and latest.version >= prepared.version


def _undo(
    work: PromotionRun,
    journal: Journal,
    promotion: PromotionRecord,
    outcome: tuple[Mapping[str, Committed], Sequence[LostTable]],
    known: Mapping[str, ModelRecords],
) -> NoReturn:
    work.watch("undo")
    work.check_claim()
    undone = undo_moves(work, journal, promotion, *outcome, known)
    remove_journal(work.opened.resources.warehouse, journal.run_id)
    raise PromotionUndone(undone)


def _finish(
    work: PromotionRun,
    journal: Journal,
    promotion: PromotionRecord,
    commits: Sequence[tuple[Table, PreparedCommit]],
    records: tuple[Mapping[str, ModelRecords], Sequence[ModelRecords]],
) -> PromotionRecord:
    resources = work.opened.resources
    known, beside = records
    try:
        work.watch("commits")
        outcomes = commit_moves(work, journal, commits)
        made = {
            table.name: each
            for (table, _), each in zip(commits, outcomes, strict=True)
            if isinstance(each, Committed)
        }
        lost = [each for each in outcomes if isinstance(each, LostTable)]
        if lost:
            _undo(work, journal, promotion, (made, lost), known)
        work.watch("records")
        work.check_claim()
        tables = [add_checkpoint(known[name], each) for name, each in made.items()]
        record_promotion_tables(resources.ledger, work.run_id, [*tables, *beside], promotion)
        work.moved = len(tables)
        work.watch("clear")
        work.check_claim()
        remove_journal(resources.warehouse, journal.run_id)
    except PromotionUndone:
        raise
    except BaseException:
        work.opened.caller.warn(
            "some tables may have moved and others not: `rocky branch recover` finishes it"
        )
        raise
    _announce(work, [table for table, _ in commits], made)
    work.watch("end")
    return promotion


def _announce(work: PromotionRun, tables: Sequence[Table], made: Mapping[str, Committed]) -> None:
    """Tell those who keep metadata of their own. Whoever needs Spark is told by the next run."""
    for each in work.opened.resources.announce:
        if each.needs_engine:
            continue
        for table in tables:
            try:
                each.tell(None, table, made[table.name].snapshot)
            except (StoreUnreadable, StoreUnwritable) as error:
                # The tables have moved: the next run tells them again.
                work.opened.caller.warn(
                    f"`{table.name}` was moved, but not every catalogue was told: {error}"
                )


@dataclass(frozen=True, slots=True)
class RecoveredPromotion:
    """What came of one interrupted promotion.

    `record` is that of the one who finished it, or its own where it had been recorded; `undone`
    says why nothing was moved.
    """

    run_id: str
    branch: str
    record: PromotionRecord | None = None
    undone: str | None = None


def recover_promotions(
    opened: RunSession, now: datetime, watch: OnStep = ignore_step
) -> tuple[RecoveredPromotion, ...]:
    """Finish or undo everything that was interrupted; the recoveries, oldest first.

    Raises LedgerLocked while the process that began it is running, and PromotionUnfinished
    for a journal of another ledger.
    """
    warehouse = opened.resources.warehouse
    return tuple(_recover(opened, each, now, watch) for each in load_journals(warehouse))


def _recover(
    opened: RunSession, journal: Journal, now: datetime, watch: OnStep
) -> RecoveredPromotion:
    resources = opened.resources
    branch = str(journal.record.get("branch", ""))
    clearance = clear_recovery(opened, journal)
    known = next(
        (
            each
            for each in load_promotions(resources.ledger.path)
            if journal.run_id in (each.run_id, each.recovers)
        ),
        None,
    )
    if known is not None:
        # All was recorded, in one piece, and only the journal was not removed.
        remove_journal(resources.warehouse, journal.run_id)
        undone = known.reason if known.kind == UNDONE else None
        return RecoveredPromotion(journal.run_id, branch, known, undone)
    tables = [resources.warehouse.table(Target(*each.prefix.split("/"))) for each in journal.tables]
    try:
        with open_promotion_run(opened, clearance, tables, now, watch) as work:
            return RecoveredPromotion(journal.run_id, branch, _finish_journal(work, journal))
    except PromotionUndone as undone_because:
        return RecoveredPromotion(journal.run_id, branch, undone=str(undone_because))


def forget_promotion(opened: RunSession, run_id: str) -> dict[str, bool]:
    """Give up an interrupted promotion of a ledger that is lost, or a foreign one.

    Returns which of its tables had moved.

    Raises NothingSelected when there is none, and PromotionUnfinished when it can be finished.
    """
    resources = opened.resources
    journal = next(
        (each for each in load_journals(resources.warehouse) if each.run_id == run_id), None
    )
    if journal is None:
        raise NothingSelected(f"no promotion `{run_id}` was interrupted")
    if journal.ledger_id == resources.ledger.ledger_id and is_own_journal(opened, journal):
        raise PromotionUnfinished(f"`{run_id}` can be finished: `rocky branch recover` does it")
    moved = {}
    for each in journal.tables:
        latest = resources.warehouse.table(Target(*each.prefix.split("/"))).snapshot()
        moved[each.target] = latest is not None and latest.version >= each.version
    remove_journal(resources.warehouse, run_id)
    return moved
