"""A promotion: production's tables get the content of a branch's, without building anything.

What may be promoted is decided before, from the branch as it was looked at; here it is looked at
once more with production's tables claimed, and whatever is no longer so refuses the promotion.
"""

from collections.abc import Mapping
from dataclasses import replace

from rocky.branches.promotion.clearance import (
    PromotionClearance,
    find_other_inputs,
    refuse_moved_inputs,
    tables_to_promote,
)
from rocky.branches.promotion.journal import move_tables
from rocky.branches.promotion.moves import Move, PreparedMove, prepare_moves
from rocky.branches.promotion.promotion_run import (
    Actor,
    OnStep,
    PromotionRun,
    ignore_step,
    open_promotion_run,
)
from rocky.branches.record_transfer import (
    BranchHistory,
    TableArrival,
    code_of,
    recorded_tables,
    transfer_records,
)
from rocky.branches.table_commits import refuse_foreign_tables
from rocky.branches.tables import BranchTable, BranchView, same_content, table_content
from rocky.errors import PromotionRefused
from rocky.ledger.branch_records import PROMOTED, PromotedTable, PromotionRecord
from rocky.ledger.readers.table import TableRecords
from rocky.ledger.writer import ModelRecords
from rocky.run.prepare.claims import ledger_statement
from rocky.run.prepare.session import RunSession
from rocky.store.delta.change import Committed
from rocky.store.journal import PreparedStamp


def promote_tables(
    opened: RunSession,
    cleared: PromotionClearance,
    actor: Actor,
    watch: OnStep = ignore_step,
) -> PromotionRecord:
    """Promote what a branch has changed, as the gate has let it through.

    Raises PromotionRefused, ChangeRefused, LedgerLocked; then production is as it was.
    """
    cleared.look_again(opened)
    view, made = cleared.candidate.view, cleared.made
    tables = tables_to_promote(view)
    relied = find_other_inputs(view, tables, made.tables)
    before = recorded_tables(opened.resources.ledger.path)
    proved = _find_proved(view, made, before)
    claimed = [each.parent_table for each in (*tables, *proved)]
    with open_promotion_run(opened, cleared, claimed, actor.at, watch) as work:
        _refuse_changed((*tables, *proved))
        refuse_foreign_tables(
            opened.resources.ledger,
            [(each.parent_table, each.production) for each in tables if each.production],
            {target: each.execution.model_name for target, each in before.items()},
        )
        refuse_moved_inputs(view.record.name, relied, again=True)
        work.watch("files")
        moves = prepare_moves(
            [_move(work, view, each, made) for each in tables],
            PreparedStamp(int(actor.at.timestamp() * 1000), work.run_id),
        )
        promoted = [
            _promoted(each, move, made, before.get(each.target.lower()))
            for each, move in zip(tables, moves, strict=True)
        ]
        records, beside = _records(work, view, tables, moves, made, proved)
        promotion = _record(cleared, actor, work, promoted)
        return move_tables(work, promotion, moves, records, beside)


def _record(
    cleared: PromotionClearance, actor: Actor, work: PromotionRun, tables: list[PromotedTable]
) -> PromotionRecord:
    """Who promotes what, and on whose approval: what the gate has found and nobody can add to."""
    question = cleared.candidate.question
    return PromotionRecord(
        work.run_id,
        PROMOTED,
        question.record.name,
        actor.by,
        actor.at,
        tuple(tables),
        {
            each.target: "changed in production since the branch was made; it stays as it is"
            for each in cleared.candidate.view.tables.values()
            if each.has_moved and not each.is_changed
        },
        question.state.hash,
        cleared.verdict.impact,
        cleared.verdict.breaking,
        question.base_commit,
        actor.git_commit,
        actor.git_dirty,
        question.policy.to_json(),
        (*cleared.approvals.accepted, *cleared.allowed),
        reason=actor.reason,
    )


def _find_proved(
    view: BranchView, made: BranchHistory, before: Mapping[str, TableRecords]
) -> tuple[BranchTable, ...]:
    """Tables that came out on the branch as production has them, of inputs that are promoted now.

    They do not move; that they equal a build of the new inputs is recorded, so that nobody
    builds them again.
    """
    found = []
    for each in view.tables.values():
        known, there = _known_records(each, made), before.get(each.target.lower())
        if known is None or there is None or not same_content(each.branch, each.production):
            continue
        proof = known.provenance
        if proof is not None and proof.input_hash not in (None, *there.indexed):
            found.append(each)
    return tuple(found)


def _refuse_changed(tables: tuple[BranchTable, ...]) -> None:
    """Raises PromotionRefused for a table that is not what it was when it was decided."""
    for each in tables:
        now, own = each.parent_table.snapshot(), each.table.snapshot()
        if not same_content(now, each.production) or _version(now) != _version(each.production):
            raise PromotionRefused(f"`{each.target}` has just changed in production; try again")
        if not same_content(own, each.branch):
            raise PromotionRefused(f"`{each.target}` has just changed on the branch; try again")


def _version(snapshot: object) -> object:
    return getattr(snapshot, "version", None)


def _move(work: PromotionRun, view: BranchView, table: BranchTable, made: BranchHistory) -> Move:
    assert table.branch is not None
    known = made.tables.get(table.target.lower())
    info = {
        "runId": work.run_id,
        "model": _model_name(table, made),
        "promotedFrom": view.record.name,
        **ledger_statement(work.opened.resources),
    }
    if known is not None:
        info["builtBy"] = known.run_id
        if known.execution.recipe_hash is not None:
            info["recipeHash"] = known.execution.recipe_hash
    return Move(
        table.parent_table, table.production, table.branch, table.table, info, work.authority
    )


def _model_name(table: BranchTable, made: BranchHistory) -> str:
    known = made.tables.get(table.target.lower())
    return known.execution.model_name if known is not None else table.target


def _promoted(
    table: BranchTable, move: PreparedMove, made: BranchHistory, replaced: TableRecords | None
) -> PromotedTable:
    known = _known_records(table, made)
    run = made.runs.get(known.run_id) if known is not None else None
    before = table.production
    return PromotedTable(
        table.target,
        _model_name(table, made),
        move.commit.version,
        table_content(move.after),
        from_version=None if before is None else before.version,
        from_content=None if before is None else table_content(before),
        branch_version=None if table.branch is None else table.branch.version,
        branch_before=None if table.made_of is None else table.made_of.version,
        built_by=known.run_id if known is not None else None,
        built_at=known.execution.finished_at if known is not None else None,
        built_from=run.git_commit if run is not None else None,
        sql_hash=known.execution.sql_hash if known is not None else None,
        recipe_hash=known.execution.recipe_hash if known is not None else None,
        watermark_before=replaced.watermark if replaced is not None else None,
        partitions_before=replaced.partitions if replaced is not None else (),
        grace_before=replaced.grace if replaced is not None else (),
        loaded_before=replaced.loaded if replaced is not None else (),
        skip_hash=code_of(move.after, known),
        skip_hash_before=None if before is None else code_of(before, replaced),
    )


def _known_records(table: BranchTable, made: BranchHistory) -> TableRecords | None:
    """What is recorded of a table, unless somebody else has changed it since."""
    known = made.tables.get(table.target.lower())
    version = None if table.branch is None else table.branch.version
    if known is None or known.execution.commit_version != version:
        return None
    return known


def _records(
    work: PromotionRun,
    view: BranchView,
    tables: tuple[BranchTable, ...],
    moves: list[PreparedMove],
    made: BranchHistory,
    proved: tuple[BranchTable, ...],
) -> tuple[list[ModelRecords], list[ModelRecords]]:
    """What is recorded of tables that move, and of those that only are proved anew."""
    contents = {
        each.target.lower(): (table_content(each.production), each.production.version)
        for each in view.tables.values()
        if each.production is not None
    }
    contents |= {
        each.target.lower(): (table_content(move.after), move.commit.version)
        for each, move in zip(tables, moves, strict=True)
    }

    def version_of(target: str, identity: str | None) -> int | None:
        content, version = contents.get(target.lower(), (None, None))
        return version if content is not None and content == identity else None

    def record(table: BranchTable, committed: Committed, *, moves_it: bool) -> ModelRecords:
        known = _known_records(table, made)
        verb = "promoted from" if moves_it else "the same as on"
        built = f", built by {known.run_id}" if known is not None else ""
        arrival = TableArrival(
            work.run_id,
            work.now,
            table.parent_table,
            committed,
            _model_name(table, made),
            PROMOTED,
            f"{verb} branch {view.record.name}{built}",
            version_of,
            base=_base(table, known),
            is_whole=moves_it and known is not None,
        )
        if known is not None and not moves_it:
            # Production's own rows stay: what it remembers of them is as good.
            known = replace(known, partitions=(), grace=(), loaded=())
        return transfer_records(arrival, known)

    return (
        [
            record(each, move.committed, moves_it=True)
            for each, move in zip(tables, moves, strict=True)
        ],
        [
            record(each, Committed(each.production, (), ()), moves_it=False)
            for each in proved
            if each.production is not None
        ],
    )


def _base(table: BranchTable, known: TableRecords | None) -> int | None:
    """Production's version that the branch's build started from, if it was one build from there.

    Production still is what the branch was made of.
    """
    made = known.provenance if known is not None else None
    if made is None or table.made_of is None or table.production is None:
        return None
    if made.base_version != table.made_of.version:
        return None
    return table.production.version
