"""Compaction: the small files of a table that is appended to become few, with the same rows.

What is read is what was recorded: a table with commits that no run made, and a file that does not
hold the bytes it is named by, are refused, or they would come out as if a run had written them. The
rows are hashed as they are read and once more as they are written. All files of a table change in
one commit, which the store refuses unless the rows are the same; a process that dies before it
leaves the table as it was, and files that `rocky gc` removes.

Only tables that rows are added to: one that a build replaces is cut into files by that build.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event
from typing import Final, Literal

from rocky.errors import RockyError, StoreUnreadable
from rocky.ledger.branch_records import REVERTED
from rocky.ledger.record import RunId
from rocky.maintenance.file_groups import MOST_ROWS, FileGroup, group_small_files
from rocky.maintenance.rewrite_records import COMPACTED, Rewrite, rewrite_records
from rocky.maintenance.tables import RecordedTable, find_tables, load_table_records
from rocky.run.checksums import damaged_file
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import Engine, Written
from rocky.run.engine.sql import column_list
from rocky.run.prepare.claims import BegunRun, ledger_statement, open_recorded_run
from rocky.run.prepare.pins import PinnedTable
from rocky.run.prepare.resources import COPIED_FROM, PIPELINE
from rocky.run.prepare.session import RunSession
from rocky.run.record.commits import CommitAdopter
from rocky.spark.interface import Layout
from rocky.store.data_file import DataFile, is_addressed
from rocky.store.delta.change import Change, Committed
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot
from rocky.store.warehouse import Warehouse

APPENDED: Final = frozenset({"incremental", "append", "microbatch"})
"""As records name them, the strategies that only add rows."""
_KEPT_INFO: Final = ("recipeHash", PIPELINE, COPIED_FROM)
"""What the newest commit says of the table, and the next one must go on saying."""
_MODULUS: Final = 1 << 128

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
    execution, snapshot = found.known.execution, found.snapshot
    if execution.strategy not in APPENDED:
        return f"its strategy is `{execution.strategy}`: only tables that are appended to are"
    if execution.decision == REVERTED:
        return "it stays as a revert left it until a run writes it"
    if ROWS_HASH not in snapshot.configuration:
        return "no hash of its rows is recorded, so nobody could tell that they stay the same"
    if not all(is_addressed(each.path) for each in snapshot.files):
        return "it has files that are not named by their bytes"
    return None


def compact_tables(
    opened: RunSession, wanted: Sequence[str], target_bytes: int, now: datetime
) -> Compaction:
    """Compact the tables that have small files, in one run; what is done stays done.

    Raises RockyError for the first table that cannot be, which is as it was, and KeyboardInterrupt
    where it is to stop.
    """
    resources = opened.resources
    state, warehouse = resources.ledger.path, resources.warehouse
    planned = _plan(opened, warehouse, wanted, target_bytes)
    pending = {each.table for each in planned.tables if each.status == "pending"}
    if not pending:
        return planned
    tables = [each.table for each in find_tables(load_table_records(state), warehouse, ())]
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), warehouse.objects.place("")
    )
    told = replace(record, selection=tuple(f"compact {name}" for name in sorted(pending)))
    claimed = [each for each in tables if each.name in pending]
    with open_recorded_run(resources, told, claimed, opened.caller.warn) as (begun, moved):
        done: dict[str, CompactedTable] = {}
        # Once more: only now nobody else writes them.
        for each in find_tables(load_table_records(state), warehouse, sorted(pending)):
            _stop(opened.stop)
            judged = _judge(each, target_bytes)
            if judged.status == "pending":
                judged = _CompactionWork(opened, begun, each).compact(judged)
            done[judged.table] = judged
        moved(sum(each.status == "compacted" for each in done.values()))
    return Compaction(tuple(done.get(each.table, each) for each in planned.tables), begun.run_id)


def _plan(
    opened: RunSession, warehouse: Warehouse, wanted: Sequence[str], target_bytes: int
) -> Compaction:
    records = load_table_records(opened.resources.ledger.path)
    return plan_compaction(
        find_tables(records, warehouse, wanted), target_bytes, named=bool(wanted)
    )


def _stop(stop: Event) -> None:
    if stop.is_set():
        raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class _CompactionWork:
    """One table that is being compacted."""

    opened: RunSession
    begun: BegunRun
    found: RecordedTable

    def compact(self, judged: CompactedTable) -> CompactedTable:
        table, snapshot, _ = self.found
        resources = self.opened.resources
        started = resources.clock()
        adopter = CommitAdopter(resources.ledger, self.begun.run_id)
        adopter.refuse_foreign(self.found.model, PinnedTable(table, snapshot))
        files = [file for group in judged.groups for file in group.files]
        damaged = damaged_file(table, replace(snapshot, files=tuple(files)))
        if damaged is not None:
            raise StoreUnreadable(
                f"`{table.name}` is not compacted: its file `{damaged}` is missing or does not hold"
                " the bytes it is named by; put it back, or build the table again"
            )
        engine = resources.open_engine()
        try:
            written = [self._rewrite(engine, group) for group in judged.groups]
            self._compare_whole(judged, written)
            committed = self._commit(files, [file for each in written for file in each.files])
        except STEP_ERRORS as error:
            if isinstance(error, RockyError):
                raise
            said = classify_step_failure(error, engine.explain)
            raise RockyError(f"`{table.name}` was not compacted: {said.message}") from error
        finished, run_id = resources.clock(), self.begun.run_id
        reason = _describe(judged, committed)
        records = rewrite_records(
            Rewrite(self.found, committed, COMPACTED, reason, run_id, started, finished)
        )
        adopted = adopter.adopt(table, committed.snapshot.version, finished)
        execution = replace(records.execution, adopted=adopted.commits)
        artifacts = (*adopted.artifacts, *records.artifacts)
        resources.ledger.record_models(
            run_id, [replace(records, execution=execution, artifacts=artifacts)]
        )
        for each in resources.announce:
            each.tell(engine, table, committed.snapshot)
        return replace(judged, status="compacted", after=committed.snapshot)

    def _rewrite(self, engine: Engine, group: FileGroup) -> Written:
        """The rows of a group as one file, not yet committed. Raises RockyError for other rows."""
        _stop(self.opened.stop)
        table, snapshot, _ = self.found
        view = f"rocky_compact_{''.join(each for each in self.begun.run_id if each.isdigit())}"
        gone = {file.path for file in group.files}
        kept = frozenset(file.path for file in snapshot.files if file.path not in gone)
        engine.views.bind_table(view, table, replace(snapshot, files=group.files))
        try:
            names = column_list(field.name for field in snapshot.schema)
            sql = f"SELECT {names} FROM {view}"  # noqa: S608 - names are quoted
            read = engine.rows_hash(engine.frame(sql))
            written = engine.write(engine.frame(sql), table, self._layout(), snapshot.schema, kept)
        finally:
            engine.views.unbind([view])
        if (written.rows, written.rows_hash) != (group.rows, read):
            raise RockyError(
                f"`{table.name}` was not compacted: {group.rows} rows were read and {written.rows}"
                " written, or others; the table is as it was"
            )
        return written

    def _layout(self) -> Layout:
        made = self.found.known.provenance
        clustered = made.layout.cluster_by if made is not None and made.layout is not None else ()
        partitions = self.found.snapshot.partition_columns
        return Layout(partitions, True, 1, MOST_ROWS, clustered)

    def _compare_whole(self, judged: CompactedTable, written: Sequence[Written]) -> None:
        """Where every file is rewritten, the hash of the rows must be the recorded one."""
        if sum(len(group.files) for group in judged.groups) < len(self.found.snapshot.files):
            return
        total = sum(int(each.rows_hash, 16) for each in written) % _MODULUS
        if f"{total:032x}" != self.found.snapshot.configuration[ROWS_HASH]:
            raise RockyError(
                f"`{self.found.table.name}` was not compacted: its rows do not have the hash that"
                " is recorded of them; `rocky verify` says more"
            )

    def _commit(self, gone: Sequence[DataFile], files: Sequence[DataFile]) -> Committed:
        table, snapshot, _ = self.found
        info = {key: str(snapshot.info[key]) for key in _KEPT_INFO if key in snapshot.info}
        return table.commit(
            Change(
                "COMPACT",
                snapshot,
                snapshot.schema,
                snapshot.partition_columns,
                tuple(files),
                frozenset(file.path for file in gone),
                properties={ROWS_HASH: snapshot.configuration[ROWS_HASH]},
                info={
                    **info,
                    "runId": self.begun.run_id,
                    "model": self.found.model,
                    **ledger_statement(self.opened.resources),
                },
                authority=self.begun.authority,
            )
        )


def _describe(judged: CompactedTable, committed: Committed) -> str:
    before, after = len(judged.before.files), len(committed.snapshot.files)
    return f"{before} files became {after}, with the same rows"
