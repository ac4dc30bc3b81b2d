"""Moving tables together: files placed, intentions written down, then every commit, then records.

The order is what makes it safe. Until the journal is written nothing can be seen by readers and
nothing has to be undone. From then on whoever comes next can finish: each commit is known to the
byte, is made at exactly one version, and is recognised when it is there already. Readers see some
tables moved and others not only while the commits are made, one small object a table, side by side.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.model_records import ModelRecords
from rocky.ledger.promoting import records_to_json
from rocky.ledger.record import RunId
from rocky.ledger.records import CommitRecord
from rocky.store.actions import parse_commit
from rocky.store.bringing import bring_files
from rocky.store.change import Committed
from rocky.store.journals import Journal, JournalledTable, write_journal
from rocky.store.prepared import Moment, Moved, PreparedCommit, commit_exactly, prepare_commit
from rocky.store.replay import Replay
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

_THREADS: Final = 16


@dataclass(frozen=True, slots=True)
class Move:
    """A table that gets other content: that of `content`, whose files lie with `source`.

    `info` goes into the commit.
    """

    table: Table
    before: Snapshot | None
    content: Snapshot
    source: Table
    info: Mapping[str, str]


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


def prepare_moves(moves: Sequence[Move], moment: Moment) -> list[PreparedMove]:
    """Place the files of all tables and make their commits. Nothing can be seen of it yet.

    Raises ChangeRefused, StoreUnreadable, StoreUnwritable.
    """
    with ThreadPoolExecutor(_THREADS, "rocky-promote") as pool:
        return list(pool.map(lambda move: _prepare(move, moment), moves))


def _prepare(move: Move, moment: Moment) -> PreparedMove:
    if move.source.prefix != move.table.prefix or move.source.objects != move.table.objects:
        bring_files(move.source, move.content.files, move.table)
    commit = prepare_commit(move.table, move.before, move.content, move.info, moment)
    replay = Replay(move.before)
    replay.apply(parse_commit(commit.data), moment.now_ms)
    return PreparedMove(move, commit, replay.snapshot(commit.version))


def journal_moves(
    warehouse: Warehouse,
    ledger_id: str,
    promotion: PromotionRecord,
    prepared: tuple[Sequence[PreparedMove], Sequence[ModelRecords]],
    beside: Sequence[ModelRecords] = (),
) -> Journal:
    """Write down what is about to happen. From here on it is finished, whoever does it."""
    moves, records = prepared
    journal = Journal(
        promotion.run_id,
        ledger_id,
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
    write_journal(warehouse, journal)
    return journal


@dataclass(frozen=True, slots=True)
class Lost:
    """A table that cannot be moved any more, and why."""

    target: str
    why: str


CHANGED: Final = "it was changed by somebody else"


def commit_moves(
    moves: Sequence[tuple[Table, PreparedCommit]],
    watch: Callable[[str], None] = lambda _target: None,
) -> list[Committed | Lost]:
    """Commit all, side by side. `watch` is told of each before it is made.

    Raises StoreUnreadable or StoreUnwritable when it cannot be told whether a commit was made.
    """

    def commit(each: tuple[Table, PreparedCommit]) -> Committed | Lost:
        table, prepared = each
        watch(table.name)
        try:
            done = commit_exactly(table, prepared)
        except ChangeRefused as refused:
            # A file that was placed is gone again.
            return Lost(table.name, str(refused))
        return Lost(table.name, CHANGED) if isinstance(done, Moved) else done

    with ThreadPoolExecutor(_THREADS, "rocky-promote") as pool:
        return list(pool.map(commit, moves))


def with_checkpoint(records: ModelRecords, committed: Committed) -> ModelRecords:
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


def prepared_again(
    table: Table, journalled: JournalledTable, run_id: RunId
) -> PreparedCommit | Lost:
    """A commit as a journal has it; not for a table that is not there any more.

    Raises StoreUnreadable when that cannot be told.
    """
    base, before = journalled.from_version, None
    if base is not None:
        latest = table.snapshot()
        if latest is None or latest.version < base:
            return Lost(table.name, "it is gone, or was made anew")
        before = table.snapshot(base)
    data = journalled.commit.encode()
    try:
        replay = Replay(before)
        replay.apply(parse_commit(data), 0)
        after = replay.snapshot(journalled.version)
    except ValueError as error:
        raise StoreUnreadable(
            f"the journal of `{run_id}` has no commit for `{table.name}` that can be read ({error})"
        ) from error
    here = {} if before is None else {file.path: file for file in before.files}
    return PreparedCommit(
        journalled.version,
        data,
        before,
        tuple(file for file in after.files if file.path not in here),
        tuple(path for path in here if path not in {file.path for file in after.files}),
        f"{run_id}/{table.name}",
    )
