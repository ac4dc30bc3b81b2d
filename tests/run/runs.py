"""Runs of small projects: everything real but Spark."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

from rocky.compiler.passes import compile_project
from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.ledger.run_records import AttemptRecord, RunRecord
from rocky.ledger.writer import open_ledger
from rocky.plan.selectors import select_models
from rocky.plan.steps import Step, plan_steps
from rocky.project import load_project
from rocky.run.checksums import checksums_of
from rocky.run.engine.sources import Sources
from rocky.run.materialize.build import Materialize
from rocky.run.materialize.strategy import materialize
from rocky.run.outcomes import RunResult, StepOutcome
from rocky.run.prepare.caller import RunOrigin
from rocky.run.prepare.checkpoints import RecordedCheckpoints
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import (
    Announcement,
    Expectation,
    RunParameters,
    RunResources,
)
from rocky.run.project_run import run_unless_unchanged
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine

PROJECT = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n[resilience]\ninitial_backoff_ms = 1\n',
    "sources/raw.toml": (
        '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
        'columns = [ { name = "id", type = "bigint" }, { name = "country", type = "string" } ]\n'
    ),
    "data/orders.csv": "id,country\n1,DE\n2,DE\n3,FR\n",
    "seeds/countries.csv": "code,label\nDE,Germany\nFR,France\n",
    "models/stg_orders.sql": "SELECT id, country FROM raw.orders",
    "models/large.sql": "SELECT id, country FROM stg_orders WHERE id > 1",
    "models/large.toml": '[strategy]\ntype = "ephemeral"\n',
    "models/by_country.sql": (
        "SELECT c.label, count(*) AS n FROM large JOIN countries c ON large.country = c.code "
        "GROUP BY c.label"
    ),
    "models/report.sql": "SELECT max(n) AS most FROM by_country",
    "models/alone.sql": "SELECT 1 AS one",
}

LATER_NS = 1 << 62
"""As if every file had been as it is for long: a run remembers only what has settled."""
NEVER_NS = 0
"""As if no file had: every run looks at everything."""
WHO = RunOrigin("Manual", "cli", "host", "somebody")
TABLE = "spark_catalog.default."


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@dataclass
class Heard:
    """A listener that remembers."""

    said: list[tuple[str, str]] = field(default_factory=list)
    outcomes: list[StepOutcome] = field(default_factory=list)
    on_finished: Callable[[], None] = lambda: None

    def queued(self, run_id: str, steps: Sequence[Step]) -> None:
        self.said.append(("queued", " ".join(step.name for step in steps)))

    def started(self, step: Step) -> None:
        self.said.append(("started", step.name))

    def progress(self, step: Step, done: int, known: int) -> None:
        self.said.append(("progress", f"{step.name} {done}/{known}"))

    def retried(self, step: Step, attempt: AttemptRecord) -> None:
        self.said.append(("retried", f"{step.name} {attempt.attempt}"))

    def finished(self, outcome: StepOutcome) -> None:
        self.said.append(("finished", f"{outcome.step.name} {outcome.execution.status}"))
        self.outcomes.append(outcome)
        self.on_finished()


class Shop:
    """A project on disk that is run again and again, a second apart."""

    def __init__(self, root: Path, files: dict[str, str] | None = None) -> None:
        self.root = root
        write(root, {**PROJECT, **(files or {})})
        self.engine = MemoryEngine(root)
        self.heard = Heard()
        self.stop = Event()
        self.opened = 0
        self.on_open: Callable[[], None] = lambda: None
        self.expected = Expectation()
        self.environment: Environment | None = Environment("4.1.4", "memory", {})
        self.observed: Environment | None = None
        self.variables: dict[str, str] = {}
        self.env: dict[str, str] = {}
        self.compression = "snappy"
        self.keeps_checksums = False
        self.settled_ns: int | None = LATER_NS
        self.announce: tuple[Announcement, ...] = ()
        self.on_begin: Callable[[str], None] = lambda _: None
        self.on_finished: Callable[[], None] = lambda: None
        self._now = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)

    def run(
        self,
        *selectors: str,
        before_write: Callable[[str], None] | None = None,
        options: RunParameters | None = None,
        build_table: Materialize = materialize,
    ) -> RunResult:
        """One run, with one model at a time unless told. A new engine each time, as in life."""
        self._now += timedelta(seconds=1)
        self.engine = MemoryEngine(self.root)
        self.engine.before_write = before_write or (lambda _: None)
        self.engine.compression = self.compression
        self.heard, self.stop = Heard(on_finished=self.on_finished), Event()
        project = load_project(self.root, env=self.env, variables=self.variables)
        compilation = compile_project(project, jobs=1)
        plan = plan_steps(compilation, select_models(compilation, selectors))
        checksums = checksums_of(project)
        with ExitStack() as opened:
            ledger = opened.enter_context(open_ledger(self.root / ".rocky-state.db"))
            if self.keeps_checksums:
                opened.callback(checksums.save)
            resources = RunResources(
                open_warehouse("warehouse", base=self.root).vouched_by(
                    RecordedCheckpoints(ledger).vouch
                ),
                ledger,
                WHO,
                self._open,
                Sources(self.root, {}, checksums),
                lambda facts: (
                    self.observed
                    or self.environment
                    or Environment(facts.spark_version, facts.writer, {})
                ),
                self.environment,
                build_table,
                self.announce,
                clock=lambda: self._now,
                on_begin=self.on_begin,
                expected=self.expected,
            )
            return run_unless_unchanged(
                plan,
                resources,
                options or RunParameters(parallel=1),
                listener=self.heard,
                stop=self.stop,
                settled_ns=self.settled_ns,
            )

    @property
    def now(self) -> datetime:
        """When the newest run began."""
        return self._now

    def wait(self, until: datetime) -> None:
        """Let time pass."""
        self._now = until

    def write(self, name: str, text: str) -> None:
        """Edit a file of the project."""
        write(self.root, {name: text})

    def folder(self, table: str) -> Path:
        return self.root / "warehouse/spark_catalog/default" / table

    def _open(self) -> MemoryEngine:
        self.opened += 1
        self.on_open()
        return self.engine

    def records(self) -> tuple[RunRecord, ...]:
        """All runs in the ledger, newest first."""
        with open_ledger(self.root / ".rocky-state.db") as ledger, ledger.reader() as reader:
            return reader.runs()

    def snapshot(self, table: str) -> Snapshot | None:
        warehouse = open_warehouse("warehouse", base=self.root)
        return warehouse.table(_Name("spark_catalog", "default", table)).snapshot()

    def rows(self, table: str) -> list[tuple[object, ...]]:
        """What a reader of the table sees."""
        warehouse = open_warehouse("warehouse", base=self.root)
        place = warehouse.table(_Name("spark_catalog", "default", table))
        snapshot = place.snapshot()
        assert snapshot is not None
        engine = MemoryEngine(self.root)
        engine.views.bind_table("t", place, snapshot)
        found = engine.rows("SELECT * FROM t", 1000)
        return sorted(found, key=lambda row: [(value is not None, value) for value in row])


@dataclass(frozen=True)
class _Name:
    catalog: str
    schema: str
    table: str


def statuses(report: RunResult) -> dict[str, str]:
    return {each.step.name: each.execution.status.value for each in report.outcomes}


def reasons(report: RunResult) -> dict[str, str | None]:
    return {each.step.name: each.execution.reason for each in report.outcomes}


def verify(root: Path) -> list[str]:
    """What verifying the evidence of a project finds."""
    reader = open_evidence_reader(root / ".rocky-state.db")
    assert reader is not None
    with reader:
        found = verify_evidence(reader, lambda _: open_warehouse("warehouse", base=root))
    return [f"{each.code}: {each.where}: {each.message}" for each in found.findings]
