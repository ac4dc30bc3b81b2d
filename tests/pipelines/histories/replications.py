"""Replication at random: what may happen to sources and runs, and what must hold afterwards.

Sources get rows, late rows and rows without a time, lose rows, and change their columns. Runs end,
die at any effect, and lose answers; watermarks are deleted; days pass. What a copy must hold is
worked out by `reference.py`.
"""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from rocky.errors import StateSyncFailed
from rocky.evidence.retention.ledger_facts import leave_anchors
from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.writer import Ledger, open_ledger
from rocky.pipelines.report import PipelineResult
from rocky.project.models import Target
from rocky.store.delta.snapshot import WATERMARK, Snapshot
from rocky.store.warehouse import open_warehouse
from tests.pipelines.histories.killing import Killed, LostAnswer, killed_at
from tests.pipelines.histories.reference import GRACE, Copy, Known, Notice, Row, TableReference
from tests.pipelines.lakes import LakeProject, statuses
from tests.run.runs import verify

SCHEMA = "acme_warehouse.staging__shopify"
STRATEGIES = {"orders": "incremental", "customers": "merge", "items": "full_refresh"}
SETTINGS = 'merge_keys = ["id"]\n'
MORE = """
[[pipeline.bronze.table_overrides]]
match = { table = "customers" }
strategy = "merge"

[[pipeline.bronze.table_overrides]]
match = { table = "items" }
strategy = "full_refresh"

[schema_evolution]
grace_period_days = 3

[resilience]
initial_backoff_ms = 1
"""
ARROW = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", "UTC"),
}
BEGINNING = datetime(2026, 5, 1, tzinfo=UTC)
ONE_DAY = timedelta(days=1)
EFFECTS = 20
"""About as many as a run has that copies all three tables; with fewer, some runs live."""

tables = st.sampled_from(sorted(STRATEGIES))
# Most of what happens, happens to the table that goes on from where it was.
often_orders = st.one_of(st.just("orders"), tables)


class Lake:
    """The files of the sources, and the project that copies them."""

    def __init__(self, project: LakeProject) -> None:
        self.project = project
        self.files = 0

    def add(self, table: TableReference, rows: list[Row]) -> None:
        """Put rows into a file of their own."""
        self.files += 1
        types = pa.schema([(name, ARROW[kind]) for name, kind in table.source.items()])
        self.project.put(rows, table.name, file=f"part-{self.files}.parquet", types=types)

    def rewrite(self, table: TableReference) -> None:
        """Write all of a source anew."""
        folder = self.project.root / "lake/five/src__acme__shopify" / table.name
        shutil.rmtree(folder, ignore_errors=True)
        self.add(table, table.live)


class Replications(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(mkdtemp(prefix="histories-"))
        self.project = self.open_project()
        self.lake = Lake(self.project)
        self.tables = {name: TableReference(name, how) for name, how in STRATEGIES.items()}
        self.moment = 0
        self.numbers = 0
        for table in self.tables.values():
            self.lake.rewrite(table)

    def open_project(self) -> LakeProject:
        return LakeProject(self.root, SETTINGS, MORE)

    # ------------------------------------------------------------------ the source

    @rule(
        name=often_orders,
        when=st.sampled_from(["new", "new", "equal", "late", "never"]),
        values=st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=3),
    )
    def insert(self, name: str, when: str, values: list[int | None]) -> None:
        table = self.tables[name]
        before = len(table.rows)
        for value in values:
            self.numbers += 1
            row = {"id": self.numbers, "synced": self._time(when)}
            table.rows.append({**row, "n": value, "m": value})
        self.lake.add(table, table.live[before:])

    def _time(self, when: str) -> datetime | None:
        match when:
            case "never":
                return None
            case "new":
                self.moment += 2
                hours = self.moment
            case "equal":
                hours = self.moment
            case _:
                hours = max(0, self.moment - 5)
        return BEGINNING + timedelta(hours=hours)

    @rule(name=often_orders, share=st.integers(1, 3))
    def lose_rows(self, name: str, share: int) -> None:
        table = self.tables[name]
        if table.rows:
            table.rows = [row for row in table.rows if row["id"] % 3 != share % 3]
            self.lake.rewrite(table)

    @rule(
        name=often_orders,
        column=st.sampled_from(["n", "m"]),
        kind=st.sampled_from([None, "int", "bigint", "string", None, "string"]),
    )
    def change_column(self, name: str, column: str, kind: str | None) -> None:
        table = self.tables[name]
        if table.source.get(column) == kind:
            return
        table.source = {**table.source, column: kind}
        if kind is None:
            del table.source[column]
        self.lake.rewrite(table)

    # ------------------------------------------------------------------ runs

    @rule()
    def run(self) -> None:
        self.begin()
        self._succeed(self.project.run())

    @rule()
    def run_and_lose_answers(self) -> None:
        self.begin()
        self._succeed(self.project.run(build_table=LostAnswer()))

    @rule(
        fed=st.lists(tables, unique=True, min_size=1),
        number=st.integers(1, EFFECTS),
        is_done=st.booleans(),
    )
    def run_and_die(self, fed: list[str], number: int, is_done: bool) -> None:
        for name in fed:
            self.insert(name, "new", [number])
        self.begin()
        recorded, versions = self.recorded(), self._versions()
        report = None
        with killed_at(number, is_done=is_done) as fate:
            try:
                report = self.project.run()
            except (Killed, StateSyncFailed):
                assert fate.is_over
        if not fate.is_over:
            self._succeed(report)
            return
        self.bury()
        after = self.recorded()
        for name, table in self.tables.items():
            copy, known = table.copied(self.project.now)
            is_recorded = recorded.get(name) != after.get(name)
            if is_recorded or versions[name] != self._versions()[name]:
                table.copy = copy
            if is_recorded:
                table.known = known
        self._check()

    @precondition(lambda self: self.tables["orders"].known.mark is not None)
    @rule()
    def forget_the_watermark(self) -> None:
        self.begin()
        if self.tables["orders"].known.mark is None:
            return
        self.forget(f"{SCHEMA}.orders")
        self.tables["orders"].forget()
        self._check()

    def begin(self) -> None:
        """What is done before a run."""

    def bury(self) -> None:
        """What is done after a run that died."""

    def forget(self, table: str) -> None:
        """As `rocky state delete` does it."""
        with open_ledger(self.project.state) as ledger:
            remove_watermark(ledger, table)
            self.leave(ledger)

    def leave(self, ledger: Ledger) -> None:
        """Let the tables know how far the ledger is."""
        now = self.project.now
        warnings = leave_anchors(ledger, lambda place: open_warehouse(place, base=self.root), now)
        assert [] == warnings

    def findings(self) -> list[str]:
        return verify(self.root)

    @rule()
    def wait_until_notices_end(self) -> None:
        self.run()
        self.project.now += GRACE
        self.run()

    @rule(days=st.integers(1, 4))
    def pass_days(self, days: int) -> None:
        self.project.now += days * ONE_DAY

    # ------------------------------------------------------------------ what must hold

    def _succeed(self, report: PipelineResult) -> None:
        assert 0 == report.run.exit_code, errors(report)
        assert "failed" not in statuses(report).values()
        for table in self.tables.values():
            table.copy, table.known = table.copied(self.project.now)
        self._check()

    def _check(self) -> None:
        expected = {name: shown(table.copy) for name, table in self.tables.items()}
        assert expected == {name: self._shown(name) for name in STRATEGIES}
        known = {name: table.known for name, table in self.tables.items()}
        assert known == self._known()
        assert [] == self.findings()

    def _shown(self, name: str) -> dict[str, Any] | None:
        snapshot = self._snapshot(name)
        if snapshot is None:
            return None
        columns = {field.name: field.type.text for field in snapshot.schema}
        said = snapshot.configuration.get(WATERMARK)
        mark = datetime.fromisoformat(json.loads(said)["value"]) if said else None
        return shown(Copy(columns, tuple(self.project.rows(f"{SCHEMA}.{name}")), mark))

    def _known(self) -> dict[str, Known]:
        lookups = open_lookup_reader(self.project.state)
        if lookups is None:
            return dict.fromkeys(STRATEGIES, Known())
        marks = self.project.watermarks()
        found: dict[str, Known] = {}
        with lookups:
            for name in STRATEGIES:
                mark = marks.get(f"{SCHEMA}.{name}")
                notices = {
                    each.column: Notice(each.change, each.expires_at)
                    for each in lookups.grace_periods()
                    if each.table == f"{SCHEMA}.{name}"
                }
                found[name] = Known(datetime.fromisoformat(mark) if mark else None, notices)
        return found

    def recorded(self) -> dict[str, str]:
        """The runs that have the last word on each copy."""
        lookups = open_lookup_reader(self.project.state)
        if lookups is None:
            return {}
        with lookups:
            found = lookups.last_executions([f"{SCHEMA}.{name}" for name in STRATEGIES])
            return {name.rpartition(".")[2]: each.run_id for name, each in found.items()}

    def _versions(self) -> dict[str, int]:
        found = {name: self._snapshot(name) for name in STRATEGIES}
        return {name: -1 if each is None else each.version for name, each in found.items()}

    def _snapshot(self, name: str) -> Snapshot | None:
        warehouse = open_warehouse("warehouse", base=self.root)
        return warehouse.table(Target(*SCHEMA.split("."), name)).snapshot()

    def teardown(self) -> None:
        shutil.rmtree(self.root)


def shown(copy: Copy | None) -> dict[str, Any] | None:
    """A copy without the order of its rows."""
    if copy is None:
        return None
    rows = [{name: row.get(name) for name in sorted(copy.columns)} for row in copy.rows]
    return {
        "columns": dict(sorted(copy.columns.items())),
        "mark": copy.mark,
        "rows": sorted(json.dumps(row, default=str) for row in rows),
    }


def errors(report: PipelineResult) -> list[str | None]:
    return [each.execution.error for each in report.run.outcomes]
