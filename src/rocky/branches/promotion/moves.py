"""Moves: tables given other content together, and moved back when one of them cannot be moved.

Files are placed, intentions written down, then every commit made, then records: the order is what
makes it safe. Until the journal is written nothing can be seen by readers and nothing has to be
undone. From then on whoever comes next can finish: each commit is known to the byte, is made at
exactly one version, and is recognised when it is there already. Tables are moved back when somebody
who asks no ledger has changed another one; one that was new has no former content and stays.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from rocky.branches.promotion.clearance import RecoveryClearance
from rocky.branches.promotion.promotion_run import PromotionRun
from rocky.branches.table_commits import refuse_altered_version
from rocky.branches.tables import same_content, table_content
from rocky.errors import ChangeRefused, ForeignCommit, PromotionRefused
from rocky.ledger.branch_records import REVERTED, UNDONE, PromotionRecord
from rocky.ledger.branches import record_promotion_tables, records_to_json
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ArtifactRecord, CommitRecord, ModelStatus
from rocky.ledger.writer import ModelRecords
from rocky.project.models import Target
from rocky.run.prepare.claims import ledger_statement
from rocky.run.record.commits import commit_records
from rocky.store.clone import copy_files
from rocky.store.delta.actions import parse_commit
from rocky.store.delta.change import Committed
from rocky.store.delta.signature import CommitAuthority
from rocky.store.delta.snapshot import Replay, Snapshot
from rocky.store.journal import (
    Journal,
    JournalledTable,
    PreparedCommit,
    PreparedStamp,
    TableChanged,
    commit_exactly,
    prepare_commit,
    restore_commit,
    write_journal,
)
from rocky.store.warehouse import Table

_THREADS: Final = 16


@dataclass(frozen=True, slots=True)
class Move:
    """A table that gets other content: that of `content`, whose files lie with `source`.

    `info` goes into the commit, which is made by `authority`.
    """

    table: Table
    before: Snapshot | None
    content: Snapshot
    source: Table
    info: Mapping[str, str]
    authority: CommitAuthority


@dataclass(frozen=True, slots=True)
class PreparedMove:
    """A move that can be committed. `after` is the table as it will be."""

    move: Move
    commit: PreparedCommit
    after: Snapshot

    @property
    def committed(self) -> Committed:
        """What committing it will have done."""
        made = self.commit
        return Committed(self.after, made.added, made.removed, commit_hash=made.commit_hash)


def prepare_moves(moves: Sequence[Move], moment: PreparedStamp) -> list[PreparedMove]:
    """Place the files of all tables and make their commits. Nothing can be seen of it yet.

    Raises ChangeRefused, StoreUnreadable, StoreUnwritable.
    """
    with ThreadPoolExecutor(_THREADS, "rocky-promote") as pool:
        return list(pool.map(lambda move: _prepare(move, moment), moves))


def _prepare(move: Move, moment: PreparedStamp) -> PreparedMove:
    if move.source.prefix != move.table.prefix or move.source.objects != move.table.objects:
        copy_files(move.source, move.content.files, move.table)
    commit = prepare_commit(
        move.table, move.before, move.content, move.info, moment, move.authority
    )
    replay = Replay(move.before)
    replay.apply(parse_commit(commit.data), moment.now_ms)
    return PreparedMove(move, commit, replay.snapshot(commit.version))


def journal_moves(
    work: PromotionRun,
    promotion: PromotionRecord,
    moves: Sequence[PreparedMove],
    records: Sequence[ModelRecords],
    beside: Sequence[ModelRecords] = (),
) -> Journal:
    """Write down what is about to happen. From here on it is finished, whoever does it."""
    resources = work.opened.resources
    journal = Journal(
        promotion.run_id,
        resources.ledger.ledger_id,
        promotion.to_json(),
        tuple(
            JournalledTable(
                each.move.table.name,
                each.move.table.prefix,
                each.commit.version,
                each.commit.data.decode(),
                None if each.move.before is None else each.move.before.version,
            )
            for each in moves
        ),
        {
            each.move.table.name: records_to_json(record)
            for each, record in zip(moves, records, strict=True)
        }
        | {str(each.execution.target): records_to_json(each) for each in beside},
    )
    if work.authority.sign is not None:
        # Whoever recovers it knows by this that the gate has let it through.
        journal = replace(journal, signature=work.authority.sign(journal.statement))
    work.check_claim()
    write_journal(resources.warehouse, journal)
    return journal


@dataclass(frozen=True, slots=True)
class LostTable:
    """A table that cannot be moved any more, and why."""

    target: str
    why: str


CHANGED_BY_OTHERS: Final = "it was changed by somebody else"


def commit_moves(
    work: PromotionRun, journal: Journal, moves: Sequence[tuple[Table, PreparedCommit]]
) -> list[Committed | LostTable]:
    """Commit all, side by side, as a journal has them.

    Raises PromotionRefused for what the run was not cleared to do or has not written down,
    ClaimLost when others may have taken over its tables, and StoreUnreadable or StoreUnwritable
    when it cannot be told whether a commit was made.
    """
    _refuse_uncleared(work, journal, moves)

    def commit(each: tuple[Table, PreparedCommit]) -> Committed | LostTable:
        table, prepared = each
        work.watch(f"commit {table.name}")
        work.check_claim()
        try:
            done = commit_exactly(table, prepared)
        except ChangeRefused as refused:
            # A file that was placed is gone again.
            return LostTable(table.name, str(refused))
        return LostTable(table.name, CHANGED_BY_OTHERS) if isinstance(done, TableChanged) else done

    with ThreadPoolExecutor(_THREADS, "rocky-promote") as pool:
        return list(pool.map(commit, moves))


def _refuse_uncleared(
    work: PromotionRun, journal: Journal, moves: Sequence[tuple[Table, PreparedCommit]]
) -> None:
    """Raises PromotionRefused unless these are moves of the journal, and it is what was cleared."""
    clearance, objects = work.clearance, work.opened.resources.warehouse.objects
    recovered = clearance.journal if isinstance(clearance, RecoveryClearance) else None
    if journal != recovered if recovered is not None else journal.run_id != work.run_id:
        raise PromotionRefused(f"`{clearance.what}` gives no leave for `{journal.run_id}`")
    written = {(each.prefix, each.version, each.commit) for each in journal.tables}
    contents = clearance.contents
    for table, made in moves:
        if (
            table.objects != objects
            or (table.prefix, made.version, made.data.decode()) not in written
            # One that is recovered was held to its clearance by whoever wrote it.
            or (recovered is None and contents.get(table.name) != _content_after(made))
        ):
            raise PromotionRefused(f"`{clearance.what}` gives no leave to move `{table.name}` so")


def _content_after(made: PreparedCommit) -> str:
    replay = Replay(made.base)
    replay.apply(parse_commit(made.data), 0)
    return table_content(replay.snapshot(made.version))


def add_checkpoint(records: ModelRecords, committed: Committed) -> ModelRecords:
    """The records of a table whose commit brought a checkpoint with it."""
    if committed.checkpoint_hash is None:
        return records
    execution = records.execution

    def noted(commits: tuple[CommitRecord, ...]) -> tuple[CommitRecord, ...]:
        return tuple(replace(each, checkpoint_blake3=committed.checkpoint_hash) for each in commits)

    return replace(
        records,
        execution=replace(
            execution, commits=noted(execution.commits), adopted=noted(execution.adopted)
        ),
    )


def restore_prepared(
    table: Table, journalled: JournalledTable, run_id: RunId
) -> PreparedCommit | LostTable:
    """A commit as a journal has it; not for a table that is not there any more.

    Raises StoreUnreadable when that cannot be told.
    """
    found = restore_commit(table, journalled, run_id)
    return LostTable(table.name, "it is gone, or was replaced") if found is None else found


def undo_moves(
    work: PromotionRun,
    journal: Journal,
    promotion: PromotionRecord,
    made: Mapping[str, Committed],
    lost: Sequence[LostTable],
    known: Mapping[str, ModelRecords],
) -> str:
    """Move tables back and record both commits of each; the sentence that says so."""
    resources = work.opened.resources
    why = "; ".join(f"`{each.target}` could not be moved: {each.why}" for each in lost)
    left = {each.target: each.why for each in lost}
    records = []
    for journalled in journal.tables:
        committed = made.get(journalled.target)
        if committed is None:
            continue
        table = resources.warehouse.table(Target(*journalled.prefix.split("/")))
        back = _move_back(work, table, journalled, committed, known[journalled.target])
        if isinstance(back, str):
            left[journalled.target] = back
        records.append(_undone_records(known[journalled.target], table, committed, back, why, work))
    said = replace(promotion, kind=UNDONE, tables=(), left=left, reason=why)
    record_promotion_tables(resources.ledger, work.run_id, records, said)
    stayed = [name for name in left if name not in {each.target for each in lost}]
    rest = f"; left as promoted: {', '.join(stayed)}" if stayed else ""
    verb = "reverted" if promotion.kind == REVERTED else "promoted"
    return f"nothing was {verb}: {why}; the other tables are as they were{rest}"


def _move_back(
    work: PromotionRun,
    table: Table,
    journalled: JournalledTable,
    committed: Committed,
    records: ModelRecords,
) -> Committed | str | None:
    """The commit that gave a table its former content; or why there is none.

    None where it has it already: whoever undid it before died over it, and the next run of the
    table records that commit.
    """
    if journalled.from_version is None:
        return "it is new: there is nothing to move it back to"
    content = table.snapshot(journalled.from_version)
    latest = table.snapshot()
    assert content is not None
    if same_content(latest, content):
        return None
    if latest is None or latest.version != committed.snapshot.version:
        return "somebody else has changed it since it was promoted"
    work.check_claim()
    name = records.execution.model_name
    try:
        refuse_altered_version(work.opened.resources.ledger, name, table, content)
    except ForeignCommit as altered:
        return str(altered)
    info = {"runId": work.run_id, "model": name, **ledger_statement(work.opened.resources)}
    moment = PreparedStamp(int(work.now.timestamp() * 1000), f"{work.run_id}/undo")
    done = commit_exactly(
        table, prepare_commit(table, latest, content, info, moment, work.authority)
    )
    if isinstance(done, TableChanged):
        return "somebody else has changed it since it was promoted"
    return done


def _undone_records(
    records: ModelRecords,
    table: Table,
    committed: Committed,
    back: Committed | str | None,
    why: str,
    work: PromotionRun,
) -> ModelRecords:
    """The records of a table that was moved and, unless there is nothing to go to, moved back."""
    execution = records.execution
    commits: tuple[CommitRecord, ...] = execution.commits
    artifacts = list(records.artifacts)
    version = committed.snapshot.version
    if isinstance(back, Committed):
        commits = (*commits, *commit_records([back]))
        version = back.snapshot.version
        artifacts += [
            ArtifactRecord(
                file.address,
                work.run_id,
                execution.model_name,
                str(table.place_of(file)),
                version,
                file.size,
                work.now,
            )
            for file in back.added
        ]
    return ModelRecords(
        replace(
            execution,
            status=ModelStatus.FAILED,
            error=f"undone: {why}",
            failure_kind="promotion_undone",
            commits=commits,
            commit_version=version,
            sql_hash="",
            recipe_hash=None,
            skip_hash=None,
            input_hash=None,
            input_proof_class=None,
            env_hash=None,
        ),
        artifacts,
    )
