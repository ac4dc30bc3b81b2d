"""A revert: the tables of a promotion get the content they had before it, the same way."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rocky.branches.promotion.clearance import clear_revert
from rocky.branches.promotion.journal import move_tables
from rocky.branches.promotion.moves import Move, PreparedMove, prepare_moves
from rocky.branches.promotion.promotion_run import (
    Actor,
    OnStep,
    PromotionRun,
    ignore_step,
    open_promotion_run,
)
from rocky.branches.promotion.reversals import TableReversal, find_stale_readers
from rocky.branches.record_transfer import (
    TableArrival,
    code_of,
    recorded_tables,
    transfer_records,
)
from rocky.branches.tables import table_content
from rocky.ledger.branch_records import REVERTED, PromotedTable, PromotionRecord
from rocky.ledger.readers.table import TableRecords, before_promotion, open_table_record_reader
from rocky.ledger.writer import ModelRecords
from rocky.run.prepare.claims import ledger_statement
from rocky.run.prepare.session import RunSession
from rocky.store.journal import PreparedStamp


def revert_tables(
    opened: RunSession,
    wanted: str,
    actor: Actor,
    *,
    discard_later: bool = False,
    watch: OnStep = ignore_step,
) -> PromotionRecord:
    """Undo a promotion, by its id or by its branch's name: then the newest of it.

    Raises what the gate raises, ChangeRefused and LedgerLocked; then production is as it was.
    """
    state = opened.resources.ledger.path
    cleared = clear_revert(opened, wanted, discard_later=discard_later)
    promotion = cleared.promotion
    tables = [each.table for each in cleared.reversals]
    with open_promotion_run(opened, cleared, tables, actor.at, watch) as work:
        # Once more: only now nobody else writes the tables.
        cleared = clear_revert(opened, promotion.run_id, discard_later=discard_later)
        work.clearance = cleared
        returns, known = cleared.reversals, recorded_tables(state)
        former = _known_before(work, promotion)
        gone = {
            each.promoted.target: range(each.promoted.to_version, each.now.version + 1)
            for each in returns
        }
        work.watch("files")
        moves = prepare_moves(
            [_move(work, each) for each in returns],
            PreparedStamp(int(actor.at.timestamp() * 1000), work.run_id),
        )
        said = PromotionRecord(
            work.run_id,
            REVERTED,
            promotion.branch,
            actor.by,
            actor.at,
            tuple(
                _reverted_table(each, move, known, former)
                for each, move in zip(returns, moves, strict=True)
            ),
            {**cleared.left, **find_stale_readers(state, promotion.run_id, gone)},
            git_commit=actor.git_commit,
            git_dirty=actor.git_dirty,
            reverts=promotion.run_id,
            reason=actor.reason,
        )
        return move_tables(work, said, moves, _records(work, promotion, returns, moves, former))


def _move(work: PromotionRun, back: TableReversal) -> Move:
    info = {
        "runId": work.run_id,
        "model": back.promoted.model_name,
        **ledger_statement(work.opened.resources),
    }
    return Move(back.table, back.now, back.before, back.table, info, work.authority)


def _reverted_table(
    back: TableReversal,
    move: PreparedMove,
    known: Mapping[str, TableRecords],
    former: Mapping[str, TableRecords],
) -> PromotedTable:
    promoted = back.promoted
    target = promoted.target.lower()
    replaced = known.get(target)
    return PromotedTable(
        promoted.target,
        promoted.model_name,
        move.commit.version,
        table_content(move.after),
        from_version=back.now.version,
        from_content=table_content(back.now),
        branch_version=promoted.branch_before,
        branch_before=promoted.branch_version,
        watermark_before=replaced.watermark if replaced is not None else None,
        partitions_before=replaced.partitions if replaced is not None else (),
        grace_before=replaced.grace if replaced is not None else (),
        loaded_before=replaced.loaded if replaced is not None else (),
        skip_hash=code_of(back.before, former.get(target)),
        skip_hash_before=code_of(back.now, replaced),
    )


def _records(
    work: PromotionRun,
    promotion: PromotionRecord,
    returns: Sequence[TableReversal],
    moves: list[PreparedMove],
    before: Mapping[str, TableRecords],
) -> list[ModelRecords]:
    return [
        transfer_records(
            TableArrival(
                work.run_id,
                work.now,
                back.table,
                move.committed,
                back.promoted.model_name,
                REVERTED,
                f"moved back to version {back.before.version}, from before {promotion.run_id}",
                lambda _target, _identity: None,
                is_whole=True,
            ),
            before.get(back.promoted.target.lower()),
        )
        for back, move in zip(returns, moves, strict=True)
    ]


def _known_before(work: PromotionRun, promotion: PromotionRecord) -> dict[str, TableRecords]:
    """What was known of the tables when they were promoted, without what proves a build.

    Its own records still do, where it stands: the same content is found by them.
    """
    lookups = open_table_record_reader(work.opened.resources.ledger.path)
    assert lookups is not None
    with lookups:
        found = lookups.before(promotion.run_id)
    tables = {each.target.lower(): each for each in promotion.tables}
    return {
        target: replace(before_promotion(known, tables[target]), provenance=None)
        for target, known in found.items()
        if target in tables
    }
