"""A restoration: a ledger that was lost, or put back, given what the tables say of themselves.

Watermarks, time intervals and loaded files come from the tables' own commits, which are recorded as
accepted: nothing is loaded again, and no table is changed. It is a run, so the ledger says who
decided it, when and why. What only the lost ledger had is not brought back: earlier runs, proofs,
counts of rows, columns on notice. So what is always built whole is built at the next run.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rocky.errors import InvalidRequest, NothingSelected, StoreUnreadable
from rocky.ledger.chain import Head
from rocky.ledger.pipeline_records import LoadedFile
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    NO_MARK,
    UNKNOWN_SOURCE,
    ArtifactRecord,
    CommitRecord,
    ModelExecution,
    ModelStatus,
    PartitionRecord,
    PartitionStatus,
    WatermarkState,
)
from rocky.ledger.writer import Ledger, ModelRecords, PipelineRecords
from rocky.project import Project
from rocky.project.configuration.strategies import (
    Incremental,
    Microbatch,
    Strategy,
    TimeInterval,
)
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.claims import open_recorded_run
from rocky.run.prepare.lost_state import RunCommit, find_unknown, is_known, newest_commits
from rocky.run.prepare.resources import COPIED_FROM, RunResources
from rocky.run.prepare.session import RunSession
from rocky.run.record.table_memory import NamedParts, TableMemory, commit_infos, remember_table
from rocky.store.anchor import read_anchor
from rocky.store.data_file import is_addressed
from rocky.store.delta.actions import parse_add
from rocky.store.delta.snapshot import ROWS_HASH
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class RestoredTable:
    """A table that is known again. `versions` are the commits that were not recorded.

    `note` says what its commits did not tell, and what follows from that.
    """

    target: str
    model_name: str
    versions: tuple[int, ...]
    commit_version: int
    watermark: str | None = None
    time_intervals: int | None = None
    loaded_files: int | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LeftTable:
    """A table that could not be taken over, and why: runs refuse it as before."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Restoration:
    """What became of the tables that the ledger did not know, and the run that says so."""

    run_id: RunId
    tables: tuple[RestoredTable, ...]
    left: tuple[LeftTable, ...]
    reason: str


def restore_from_tables(
    opened: RunSession, only: str | None, reason: str, now: datetime
) -> Restoration:
    """Record what the tables say that runs have written which the ledger does not have.

    All tables of the ledger that is gone, or `only` one. Raises NothingSelected when the ledger has
    all of them, InvalidRequest when nobody can tell which are the project's, LedgerLocked while a
    run writes one.
    """
    resources = opened.resources
    lost = _choose(opened, only)
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    what = "restore --from-tables" if only is None else f"restore --from-tables {only}"
    told = replace(record, selection=(what,), reason=reason)
    tables = [each.table for each in lost]
    warn = opened.caller.warn
    with open_recorded_run(resources, told, tables, warn, settling=True, anew=only is None) as (
        begun,
        moved,
    ):
        work = _Takeover(opened.project, resources, begun.run_id, reason, now)
        restored, left = work.take(lost)
        moved(len(restored))
        return Restoration(begun.run_id, tuple(restored), tuple(left), reason)


def _choose(opened: RunSession, only: str | None) -> list[RunCommit]:
    """The tables to be taken over, by name."""
    resources, ledger = opened.resources, opened.resources.ledger
    found = newest_commits(list(resources.warehouse.tables()))
    lost = sorted(
        find_unknown(found, ledger, resources.remote), key=lambda each: each.table.name.lower()
    )
    if only is not None:
        wanted = only.replace("`", "").lower()
        chosen = [each for each in lost if each.table.name.lower() == wanted]
        if not chosen:
            raise NothingSelected(
                f"`{only}` is not a table that runs have written which the state does not have"
            )
        return chosen
    chosen = _of_project(opened.project, lost, ledger)
    if not chosen and _is_anchor_known(resources):
        raise NothingSelected("nothing to restore: the state has all runs that the tables know of")
    return chosen


def _is_anchor_known(resources: RunResources) -> bool:
    try:
        anchor = read_anchor(resources.warehouse, resources.ledger.ledger_id)
    except StoreUnreadable:
        return False
    return anchor is None or is_known(
        Head(anchor.seq, anchor.head), resources.ledger, resources.remote
    )


def _of_project(project: Project, lost: list[RunCommit], ledger: Ledger) -> list[RunCommit]:
    """Those of some tables that were recorded in a ledger of this project.

    Other projects may have tables in the same warehouse, in ledgers of their own.
    """
    own = _owned(project)
    ledgers = {each.ledger_id for each in lost if each.table.name.lower() in own}
    others = {each.ledger_id for each in lost} - {ledger.ledger_id, *ledgers}
    with ledger.lookups() as lookups:
        is_new = not lookups.newest_of_all()
    if others and not ledgers and is_new:
        # Tables of pipelines, whose names no model has.
        if len(others) > 1:
            raise InvalidRequest(
                "the tables are of several ledgers, and none is of a model of this project: name"
                " the tables one by one, `rocky state restore TABLE --from-tables -m WHY`"
            )
        ledgers |= others
    ledgers.add(ledger.ledger_id)
    return [each for each in lost if each.ledger_id in ledgers or each.table.name.lower() in own]


def _owned(project: Project) -> dict[str, tuple[str, Strategy | None]]:
    """The names and strategies of the project's own models and seeds, by the tables they write."""
    seeds = {
        seed_target(each, project.config).key: (each.name, None) for each in project.seeds.values()
    }
    models = {each.target.key: (each.name, each.strategy) for each in project.models.values()}
    return {**seeds, **models}


@dataclass(frozen=True, slots=True)
class _Takeover:
    """A restoration in the making."""

    project: Project
    resources: RunResources
    run_id: RunId
    reason: str
    now: datetime

    def take(self, lost: Sequence[RunCommit]) -> tuple[list[RestoredTable], list[LeftTable]]:
        """Record the tables that can be taken over, all at once."""
        restored: list[RestoredTable] = []
        records: list[ModelRecords] = []
        left: list[LeftTable] = []
        owned, used = _owned(self.project), set[str]()
        for each in lost:
            name, strategy = owned.get(each.table.name.lower(), (each.model, None))
            if name.lower() in used:
                # A model that writes another table now; a record is found by its name.
                name = each.table.name
            used.add(name.lower())
            try:
                made, told = self._take(each, name, strategy)
            except StoreUnreadable as error:
                left.append(LeftTable(each.table.name, str(error)))
                continue
            restored.append(told)
            records.append(made)
        self.resources.ledger.record_models(self.run_id, records)
        return restored, left

    def _take(
        self, lost: RunCommit, name: str, strategy: Strategy | None
    ) -> tuple[ModelRecords, RestoredTable]:
        table, snapshot = lost.table, lost.snapshot
        strange = next((file for file in snapshot.files if not is_addressed(file.path)), None)
        if strange is not None:
            raise StoreUnreadable(
                f"its file `{strange.path}` is not named by the hash of its bytes, so no change of"
                " it would be found"
            )
        memory = remember_table(table, snapshot)
        versions = tuple(self._unrecorded(lost))
        log = table.log
        commits = tuple(
            CommitRecord(each, log.commit_hash(each), log.checkpoint_hash(each), foreign="accepted")
            for each in versions
        )
        execution = ModelExecution(
            name,
            ModelStatus.SUCCESS,
            started_at=self.now,
            finished_at=self.now,
            duration_ms=0,
            target=table.name,
            strategy=strategy.type if strategy is not None else None,
            reason=self.reason,
            action="restored",
            commit_version=snapshot.version,
            adopted=commits,
            rows_hash=snapshot.configuration.get(ROWS_HASH),
            files=len(snapshot.files),
            watermark=memory.watermark,
            copied_from=_source_of(lost, memory),
        )
        records = ModelRecords(
            execution,
            tuple(self._artifacts(table, name, versions)),
            tuple(self._partitions(name, memory.intervals, versions)),
            self._watermark(table, name, strategy, memory),
            pipeline=PipelineRecords(loaded=tuple(self._loaded(table, memory.files, versions))),
        )
        told = RestoredTable(
            table.name,
            name,
            versions,
            snapshot.version,
            memory.watermark,
            None if memory.intervals is None else len(memory.intervals.parts),
            None if memory.files is None else len(memory.files.parts),
            _note(strategy, memory, execution.copied_from),
        )
        return records, told

    def _unrecorded(self, lost: RunCommit) -> list[int]:
        """The versions that the ledger does not have, as far as the log goes back."""
        table, found = lost.table, list[int]()
        for version, _ in commit_infos(table, lost.snapshot.version):
            with self.resources.ledger.lookups() as lookups:
                digest = table.log.commit_hash(version)
                if lookups.has_commit(lost.model, table.name, version, digest):
                    break
            found.append(version)
        return found[::-1]

    def _artifacts(
        self, table: Table, name: str, versions: Iterable[int]
    ) -> Iterator[ArtifactRecord]:
        for version in versions:
            for action in table.log.read_commit(version):
                if action.get("add") and is_addressed(parse_add(action["add"]).path):
                    file = parse_add(action["add"])
                    yield ArtifactRecord(
                        file.address,
                        self.run_id,
                        name,
                        str(table.place_of(file)),
                        version,
                        file.size,
                        self.now,
                    )

    def _watermark(
        self, table: Table, name: str, strategy: Strategy | None, memory: TableMemory
    ) -> WatermarkState | None:
        if memory.watermark is None and not isinstance(strategy, Incremental | Microbatch):
            return None
        mark = memory.watermark or NO_MARK
        return WatermarkState(table.name, mark, self.now, name, self.run_id)

    def _partitions(
        self, name: str, intervals: NamedParts | None, versions: Sequence[int]
    ) -> Iterator[PartitionRecord]:
        """Intervals as they were computed; how many rows each has is not in the commits."""
        for key in intervals.brought_by(versions) if intervals is not None else ():
            yield PartitionRecord(name, key, PartitionStatus.COMPUTED, self.now, 0, 0, self.run_id)

    def _loaded(
        self, table: Table, files: NamedParts | None, versions: Sequence[int]
    ) -> Iterator[LoadedFile]:
        """Files as they were loaded; their names and sizes are not in the commits."""
        for digest in files.brought_by(versions) if files is not None else ():
            # Files that the ledger had before are gone if the table was begun anew since.
            replaced = files is not None and files.since in versions
            yield LoadedFile(table.name, digest, "", 0, self.now, self.run_id, replaced=replaced)


def _source_of(lost: RunCommit, memory: TableMemory) -> str | None:
    """Which source a table is a copy of; None for one that is none."""
    said = lost.info.get(COPIED_FROM)
    if isinstance(said, str):
        return said
    # The models of pipelines are called by their tables.
    is_copy = lost.model.lower() == lost.table.name.lower() and memory.files is None
    return UNKNOWN_SOURCE if is_copy else None


def _note(strategy: Strategy | None, memory: TableMemory, copied_from: str | None) -> str | None:
    """What the commits of a table did not tell, and what follows from that."""
    if isinstance(strategy, Incremental | Microbatch) and memory.watermark is None:
        return (
            "its commits have no watermark: its next run loads all rows of its source in place of"
            " those there are"
        )
    intervals, files = memory.intervals, memory.files
    if isinstance(strategy, TimeInterval) and (intervals is None or intervals.since is None):
        return (
            "its commits do not name all time intervals that are computed: `rocky run --missing`"
            " computes those again that are not named"
        )
    if files is not None and files.since is None:
        return (
            "its commits do not name all files that were loaded: one that is still in the folder"
            " would be loaded again"
        )
    if copied_from == UNKNOWN_SOURCE and memory.watermark is not None:
        return (
            "its commits do not name the source that it was copied from: it is taken for a copy of"
            " the one that the settings name now"
        )
    return None
