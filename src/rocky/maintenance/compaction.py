"""Compaction: the small files of a table that is appended to become few, with the same rows.

The rows are hashed as they are read and once more as they are written. All files of a table change
in one commit, which the store refuses unless the rows are the same; a process that dies before it
leaves the table as it was, and files that `rocky gc` removes.

Only tables that rows are added to: one that a build replaces is cut into files by that build.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from rocky.errors import RockyError
from rocky.ledger.record import RunId
from rocky.maintenance.file_groups import FileGroup, group_small_files
from rocky.maintenance.rewrite_records import COMPACTED, Rewrite, rewrite_records
from rocky.maintenance.table_work import (
    Maintenance,
    TableWork,
    find_obstacle,
    look_after,
    refuse_stopped,
)
from rocky.maintenance.tables import RecordedTable, find_tables, load_table_records
from rocky.run.engine.protocol import Engine, Written
from rocky.run.engine.sql import column_list
from rocky.run.materialize.workspace import add_hashes
from rocky.run.prepare.session import RunSession
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

APPENDED: Final = frozenset({"incremental", "append", "microbatch"})
"""As records name them, the strategies that only add rows."""
CompactionStatus = Literal["compacted", "pending", "unchanged", "left_alone"]


@dataclass(frozen=True, slots=True)
class CompactedTable:
    """What happened to one table; `reason` says why it was left alone.

    `pending` is one with small files that nobody has rewritten yet. `after` is the table then, None
    while it is as it was.
    """

    table: str
    model: str
    status: CompactionStatus
    before: Snapshot
    groups: tuple[FileGroup, ...] = ()
    after: Snapshot | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """What happened to some tables, and the run that it is recorded as; None where nothing was."""

    tables: tuple[CompactedTable, ...]
    run_id: RunId | None = None


def plan_compaction(
    found: Sequence[RecordedTable], target_bytes: int, *, named: bool = False
) -> Compaction:
    """What would be done with some tables; of those that were not `named` only appended ones."""
    judged = [_judge(each, target_bytes) for each in found]
    appended = (
        each
        for recorded, each in zip(found, judged, strict=True)
        if named or recorded.known.execution.strategy in APPENDED
    )
    return Compaction(tuple(appended))


def _judge(found: RecordedTable, target_bytes: int) -> CompactedTable:
    groups = group_small_files(found.snapshot.files, target_bytes)
    judged = CompactedTable(found.table.name, found.model, "pending", found.snapshot, groups)
    reason = _refuse(found)
    if reason is not None:
        return replace(judged, status="left_alone", groups=(), reason=reason)
    return judged if groups else replace(judged, status="unchanged")


def _refuse(found: RecordedTable) -> str | None:
    """Why a table is not compacted, whatever its files are."""
    strategy = found.known.execution.strategy
    if strategy not in APPENDED:
        return f"its strategy is `{strategy}`: only tables that are appended to are"
    return find_obstacle(found)


def compact_tables(
    opened: RunSession, wanted: Sequence[str], target_bytes: int, now: datetime
) -> Compaction:
    """Compact the tables that have small files, in one run; what is done stays done.

    Raises RockyError for the first table that cannot be, which is as it was, and KeyboardInterrupt
    where it is to stop.
    """
    state, warehouse = opened.resources.ledger.path, opened.resources.warehouse
    found = find_tables(load_table_records(state), warehouse, wanted)
    planned = plan_compaction(found, target_bytes, named=bool(wanted))
    way = Maintenance(
        "compact",
        lambda each: _judge(each, target_bytes),
        lambda begun, each, judged: _CompactionWork(opened, begun, each).compact(judged),
    )
    return Compaction(*look_after(opened, way, found, planned.tables, now))


class _CompactionWork(TableWork):
    """One table that is being compacted."""

    def compact(self, judged: CompactedTable) -> CompactedTable:
        resources = self.opened.resources
        started = resources.clock()
        files = [file for group in judged.groups for file in group.files]
        self.require_sound(files)
        engine = resources.open_engine()
        with self.explained(engine):
            written = [self._rewrite(engine, group) for group in judged.groups]
            self._compare_whole(judged, written)
            made = [file for each in written for file in each.files]
            rows_hash = self.snapshot.configuration[ROWS_HASH]
            committed = self.commit("COMPACT", files, made, rows_hash)
        before, after = len(judged.before.files), len(committed.snapshot.files)
        reason = f"{before} files became {after}, with the same rows"
        done = Rewrite(
            self.found,
            committed,
            COMPACTED,
            reason,
            self.begun.run_id,
            started,
            resources.clock(),
        )
        self.record(rewrite_records(done), committed, engine)
        return replace(judged, status="compacted", after=committed.snapshot)

    def _rewrite(self, engine: Engine, group: FileGroup) -> Written:
        """The rows of a group as one file, not yet committed. Raises RockyError for other rows."""
        refuse_stopped(self.opened.stop)
        table, snapshot, _ = self.found
        gone = {file.path for file in group.files}
        kept = frozenset(file.path for file in snapshot.files if file.path not in gone)
        with self.bound(engine, group.files) as view:
            names = column_list(field.name for field in snapshot.schema)
            sql = f"SELECT {names} FROM {view}"  # noqa: S608 - names are quoted
            read = engine.rows_hash(engine.frame(sql))
            written = engine.write(engine.frame(sql), table, self.layout, snapshot.schema, kept)
        if (written.rows, written.rows_hash) != (group.rows, read):
            raise RockyError(
                f"`{table.name}` was not compacted: {group.rows} rows were read and {written.rows}"
                " written, or others; the table is as it was"
            )
        return written

    def _compare_whole(self, judged: CompactedTable, written: Sequence[Written]) -> None:
        """Where every file is rewritten, the hash of the rows must be the recorded one."""
        if sum(len(group.files) for group in judged.groups) < len(self.snapshot.files):
            return
        if add_hashes(each.rows_hash for each in written) != self.snapshot.configuration[ROWS_HASH]:
            raise RockyError(
                f"`{self.found.table.name}` was not compacted: its rows do not have the hash that"
                " is recorded of them; `rocky verify` says more"
            )
