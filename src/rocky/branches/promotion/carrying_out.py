"""Carrying out: tables moved by a journal, from its writing to its removal, or undone.

A promotion, a revert and the recovery of either differ in where their moves come from; from the
journal on they are the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rocky.branches.promotion.moving import (
    PreparedMove,
    commit_moves,
    journal_moves,
    prepared_again,
    with_checkpoint,
)
from rocky.branches.promotion.undoing import undo_moves
from rocky.branches.promotion.working import Work
from rocky.errors import ChangeRefused, StoreUnreadable, StoreUnwritable
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.model_records import ModelRecords
from rocky.ledger.promoting import record_promoted, records_from_json, take_up
from rocky.ledger.record import RunId
from rocky.project.models import Target
from rocky.store.change import Committed
from rocky.store.journals import Journal, remove_journal
from rocky.store.prepared import Moved, PreparedCommit
from rocky.store.warehouse import Table


def carry_out(
    work: Work,
    promotion: PromotionRecord,
    moves: Sequence[PreparedMove],
    records: Sequence[ModelRecords],
    beside: Sequence[ModelRecords] = (),
) -> PromotionRecord:
    """Move the tables, and record that they were. Raises ChangeRefused when it was undone.

    `beside` is recorded too, of tables that do not move.
    """
    around = work.opened.surroundings
    work.watch("journal")
    journal = journal_moves(
        around.warehouse, around.ledger.ledger_id, promotion, (moves, records), beside
    )
    commits = [(each.move.table, each.commit) for each in moves]
    known = {each.move.table.name: record for each, record in zip(moves, records, strict=True)}
    return _finish(work, journal, promotion, commits, (known, beside))


def finish_journal(work: Work, journal: Journal) -> PromotionRecord:
    """Finish what a process that died has begun. Raises ChangeRefused when it was undone."""
    warehouse = work.opened.surroundings.warehouse
    made_by = RunId(journal.run_id)
    commits, known = [], {}
    for each in journal.tables:
        table = warehouse.table(Target(*each.prefix.split("/")))
        commits.append((table, prepared_again(table, each, made_by)))
        records = records_from_json(journal.details[each.target])
        known[each.target] = take_up(records, work.run_id, made_by)
    promotion = replace(
        PromotionRecord.from_json(journal.record), run_id=work.run_id, recovers=made_by
    )
    moving = {each.target for each in journal.tables}
    beside = [
        take_up(records_from_json(found), work.run_id, made_by)
        for target, found in journal.details.items()
        if target not in moving
    ]
    return _finish(work, journal, promotion, commits, (known, beside))


def _finish(
    work: Work,
    journal: Journal,
    promotion: PromotionRecord,
    commits: Sequence[tuple[Table, PreparedCommit]],
    records: tuple[Mapping[str, ModelRecords], Sequence[ModelRecords]],
) -> PromotionRecord:
    around = work.opened.surroundings
    known, beside = records
    work.watch("commits")
    outcomes = commit_moves(commits, lambda target: work.watch(f"commit {target}"))
    made = {
        table.name: each
        for (table, _), each in zip(commits, outcomes, strict=True)
        if isinstance(each, Committed)
    }
    lost = [each for each in outcomes if isinstance(each, Moved)]
    if lost:
        work.watch("undo")
        undone = undo_moves(work, journal, promotion, made, lost, known)
        remove_journal(around.warehouse, journal.run_id)
        raise ChangeRefused(undone)
    work.watch("records")
    tables = [with_checkpoint(known[name], each) for name, each in made.items()]
    record_promoted(around.ledger, work.run_id, [*tables, *beside], promotion)
    work.moved = len(tables)
    work.watch("clear")
    remove_journal(around.warehouse, journal.run_id)
    _announce(work, [table for table, _ in commits], made)
    work.watch("end")
    return promotion


def _announce(work: Work, tables: Sequence[Table], made: Mapping[str, Committed]) -> None:
    """Tell those who keep metadata of their own. Whoever needs Spark is told by the next run."""
    for each in work.opened.surroundings.announce:
        if each.needs_engine:
            continue
        for table in tables:
            try:
                each.tell(None, table, made[table.name].snapshot)
            except (StoreUnreadable, StoreUnwritable) as error:
                # The tables have moved: the next run tells them again.
                work.opened.means.warn(f"`{table.name}` has moved, but not for all: {error}")
