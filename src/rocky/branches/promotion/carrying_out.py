"""Carrying out: tables moved by a journal, from its writing to its removal, or undone.

A promotion, a revert and the recovery of either differ in where their moves come from; from the
journal on they are the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from rocky.branches.promotion.moving import (
    Lost,
    PreparedMove,
    commit_moves,
    journal_moves,
    prepared_again,
    with_checkpoint,
)
from rocky.branches.promotion.undoing import undo_moves
from rocky.branches.promotion.working import Work
from rocky.errors import PromotionUndone, StoreUnreadable, StoreUnwritable
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.model_records import ModelRecords
from rocky.ledger.promoting import record_promoted, records_from_json, take_up
from rocky.ledger.record import RunId
from rocky.project.models import Target
from rocky.store.change import Committed
from rocky.store.journals import Journal, remove_journal
from rocky.store.prepared import PreparedCommit
from rocky.store.warehouse import Table


def carry_out(
    work: Work,
    promotion: PromotionRecord,
    moves: Sequence[PreparedMove],
    records: Sequence[ModelRecords],
    beside: Sequence[ModelRecords] = (),
) -> PromotionRecord:
    """Move the tables, and record that they were. Raises PromotionUndone when they could not all.

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
    """Finish what a process that died has begun. Raises PromotionUndone when it cannot be."""
    warehouse = work.opened.surroundings.warehouse
    made_by = RunId(journal.run_id)
    commits, known, lost = [], {}, []
    for each in journal.tables:
        table = warehouse.table(Target(*each.prefix.split("/")))
        prepared = prepared_again(table, each, made_by)
        if isinstance(prepared, Lost):
            lost.append(prepared)
        else:
            commits.append((table, prepared))
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
    if lost:
        # Those that have moved go back, and no further one moves.
        moved = [each for each in commits if _is_made(*each)]
        made = {table.name: commit_moves([(table, each)])[0] for table, each in moved}
        done = {name: each for name, each in made.items() if isinstance(each, Committed)}
        _undo(work, journal, promotion, (done, lost), known)
    return _finish(work, journal, promotion, commits, (known, beside))


def _is_made(table: Table, prepared: PreparedCommit) -> bool:
    latest = table.snapshot()
    return latest is not None and latest.version >= prepared.version


def _undo(
    work: Work,
    journal: Journal,
    promotion: PromotionRecord,
    outcome: tuple[Mapping[str, Committed], Sequence[Lost]],
    known: Mapping[str, ModelRecords],
) -> NoReturn:
    work.watch("undo")
    undone = undo_moves(work, journal, promotion, *outcome, known)
    remove_journal(work.opened.surroundings.warehouse, journal.run_id)
    raise PromotionUndone(undone)


def _finish(
    work: Work,
    journal: Journal,
    promotion: PromotionRecord,
    commits: Sequence[tuple[Table, PreparedCommit]],
    records: tuple[Mapping[str, ModelRecords], Sequence[ModelRecords]],
) -> PromotionRecord:
    around = work.opened.surroundings
    known, beside = records
    try:
        work.watch("commits")
        outcomes = commit_moves(commits, lambda target: work.watch(f"commit {target}"))
        made = {
            table.name: each
            for (table, _), each in zip(commits, outcomes, strict=True)
            if isinstance(each, Committed)
        }
        lost = [each for each in outcomes if isinstance(each, Lost)]
        if lost:
            _undo(work, journal, promotion, (made, lost), known)
        work.watch("records")
        tables = [with_checkpoint(known[name], each) for name, each in made.items()]
        record_promoted(around.ledger, work.run_id, [*tables, *beside], promotion)
        work.moved = len(tables)
        work.watch("clear")
        remove_journal(around.warehouse, journal.run_id)
    except PromotionUndone:
        raise
    except BaseException:
        work.opened.means.warn(
            "some tables may have moved and others not: `rocky branch recover` finishes it"
        )
        raise
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
