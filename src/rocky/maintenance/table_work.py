"""The work on one table: what is asked of it before it is read, its commit, and its record.

What is read is what was recorded: a table with commits that no run made, and a file that does not
hold the bytes it is named by, are refused, or they would come out as if a run had written them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event
from typing import Final, Generic, Protocol, TypeVar

from rocky.errors import RockyError, StoreUnreadable
from rocky.ledger.branch_records import REVERTED
from rocky.ledger.record import RunId
from rocky.ledger.writer import ModelRecords
from rocky.maintenance.tables import RecordedTable, find_tables, load_table_records
from rocky.run.checksums import damaged_file
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure, hide_words
from rocky.run.engine.protocol import Engine
from rocky.run.prepare.claims import BegunRun, ledger_statement, open_recorded_run
from rocky.run.prepare.pins import PinnedTable
from rocky.run.prepare.resources import COPIED_FROM, PIPELINE
from rocky.run.prepare.session import RunSession
from rocky.run.record.commits import CommitAdopter
from rocky.spark.interface import Layout
from rocky.store.data_file import DataFile, is_addressed
from rocky.store.delta.change import Change, Committed, Operation
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

_KEPT_INFO: Final = ("recipeHash", PIPELINE, COPIED_FROM)
"""What the newest commit says of the table, and the next one must go on saying."""


def find_obstacle(found: RecordedTable) -> str | None:
    """Why a table is left alone, whatever is to be done with it."""
    if found.known.execution.decision == REVERTED:
        return "it stays as a revert left it until a run writes it"
    if ROWS_HASH not in found.snapshot.configuration:
        return "no hash of its rows is recorded, so nobody could tell what became of them"
    if not all(is_addressed(each.path) for each in found.snapshot.files):
        return "it has files that are not named by their bytes"
    return None


class Judged(Protocol):
    """What is to be said of a table; `after` is what it has become, None while it is as it was."""

    @property
    def table(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def after(self) -> Snapshot | None: ...


Verdict = TypeVar("Verdict", bound=Judged)
PENDING: Final = "pending"
"""The status of a table with something to do."""


@dataclass(frozen=True, slots=True)
class Maintenance(Generic[Verdict]):
    """A way to look after tables: what its runs are called, what it says of a table and does."""

    verb: str
    judge: Callable[[RecordedTable], Verdict]
    work: Callable[[BegunRun, RecordedTable, Verdict], Verdict]


def look_after(
    opened: RunSession,
    way: Maintenance[Verdict],
    found: Sequence[RecordedTable],
    planned: Sequence[Verdict],
    now: datetime,
) -> tuple[tuple[Verdict, ...], RunId | None]:
    """Work on the tables that have something to do, in one run; what is done stays done."""
    pending = {each.table for each in planned if each.status == PENDING}
    if not pending:
        return tuple(planned), None
    claimed = [each for each in found if each.table.name in pending]
    resources = opened.resources
    with open_maintenance(opened, way.verb, claimed, now) as (begun, moved):
        done: dict[str, Verdict] = {}
        # Once more: only now nobody else writes them.
        records = load_table_records(resources.ledger.path)
        for each in find_tables(records, resources.warehouse, sorted(pending)):
            refuse_stopped(opened.stop)
            judged = way.judge(each)
            if judged.status == PENDING:
                judged = way.work(begun, each, judged)
            done[judged.table] = judged
        moved(sum(each.after is not None for each in done.values()))
    return tuple(done.get(each.table, each) for each in planned), begun.run_id


@contextmanager
def open_maintenance(
    opened: RunSession, verb: str, found: Sequence[RecordedTable], now: datetime
) -> Iterator[tuple[BegunRun, Callable[[int], None]]]:
    """Inside, the tables are claimed and a run is recorded, which ends as the block does.

    Yields the run, and a function to say how many tables it has written.
    """
    resources = opened.resources
    record = resources.circumstances.open_record(
        now, opened.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    told = replace(record, selection=tuple(f"{verb} {each.table.name}" for each in found))
    tables = [each.table for each in found]
    with open_recorded_run(resources, told, tables, opened.caller.warn) as begun:
        yield begun


def refuse_stopped(stop: Event) -> None:
    """Raise KeyboardInterrupt where the run is to stop."""
    if stop.is_set():
        raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class TableWork:
    """One table that is being looked after, in a run that has claimed it."""

    opened: RunSession
    begun: BegunRun
    found: RecordedTable

    @property
    def snapshot(self) -> Snapshot:
        return self.found.snapshot

    @property
    def layout(self) -> Layout:
        """How a file of the table is written anew: its rows stay close as they were."""
        made = self.found.known.provenance
        clustered = made.layout.cluster_by if made is not None and made.layout is not None else ()
        partitions = self.snapshot.partition_columns
        return Layout(partitions, canonical=True, pieces=1, cluster_by=clustered)

    def require_sound(self, files: Sequence[DataFile]) -> None:
        """Raise unless runs have made the table, and files hold the bytes they are named by."""
        table, snapshot = self.found.table, self.snapshot
        self.adopter.refuse_foreign(self.found.model, PinnedTable(table, snapshot))
        damaged = damaged_file(table, replace(snapshot, files=tuple(files)))
        if damaged is not None:
            raise StoreUnreadable(
                f"`{table.name}` is left as it was: its file `{damaged}` is missing or does not"
                " hold the bytes it is named by; put it back, or build the table again"
            )

    @contextmanager
    def bound(self, engine: Engine, files: Sequence[DataFile]) -> Iterator[str]:
        """Inside, a view of the name that is given has the rows of some files of the table."""
        view = f"rocky_kept_{''.join(each for each in self.begun.run_id if each.isdigit())}"
        engine.views.bind_table(view, self.found.table, replace(self.snapshot, files=tuple(files)))
        try:
            yield view
        finally:
            engine.views.unbind([view])

    @contextmanager
    def explained(self, engine: Engine) -> Iterator[None]:
        """Inside, what Spark raises is raised as a RockyError that names the table."""
        try:
            yield
        except STEP_ERRORS as error:
            if isinstance(error, RockyError):
                raise
            failure = classify_step_failure(error, engine.explain)
            said = hide_words(failure, self.opened.resources.disclosure)
            cause = error if said.hides is None else None
            raise RockyError(f"`{self.found.table.name}` is as it was: {said.message}") from cause

    def commit(
        self,
        operation: Operation,
        gone: Sequence[DataFile],
        files: Sequence[DataFile],
        rows_hash: str,
    ) -> Committed:
        """One commit that puts files in the place of others."""
        return self.found.table.commit(self.change(operation, gone, files, rows_hash))

    def change(
        self,
        operation: Operation,
        gone: Sequence[DataFile],
        files: Sequence[DataFile],
        rows_hash: str,
    ) -> Change:
        """What such a commit does."""
        snapshot = self.snapshot
        info = {key: str(snapshot.info[key]) for key in _KEPT_INFO if key in snapshot.info}
        return Change(
            operation,
            snapshot,
            snapshot.schema,
            snapshot.partition_columns,
            tuple(files),
            frozenset(file.path for file in gone),
            properties={ROWS_HASH: rows_hash},
            info={
                **info,
                "runId": self.begun.run_id,
                "model": self.found.model,
                **ledger_statement(self.opened.resources),
            },
            authority=self.begun.authority,
        )

    def record(self, records: ModelRecords, committed: Committed, engine: Engine) -> None:
        """Write the records of the commit, and tell whoever is told of tables."""
        resources, table = self.opened.resources, self.found.table
        now = records.execution.finished_at
        adopted = self.adopter.adopt(table, committed.snapshot.version, now)
        execution = replace(records.execution, adopted=adopted.commits)
        artifacts = (*adopted.artifacts, *records.artifacts)
        resources.ledger.record_models(
            self.begun.run_id, [replace(records, execution=execution, artifacts=artifacts)]
        )
        for each in resources.announce:
            each.tell(engine, table, committed.snapshot)

    @property
    def adopter(self) -> CommitAdopter:
        return CommitAdopter(self.opened.resources.ledger, self.begun.run_id)
