"""Machines that copy one lake into one warehouse, each with a project and a state file of its own.

`main` is one machine that does one run in a process of its own and may die in it. Everything is as in
life but the engine: sessions, claims and publishing are what a run opens by itself. A machine takes
no other's processes for its own.
"""

import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.compiler.passes import compile_project
from rocky.evidence.verification import verify_evidence
from rocky.ledger import open_evidence_reader
from rocky.ledger.readers.history import open_history_reader
from rocky.ledger.run_records import RunRecord
from rocky.ledger.writer import Ledger
from rocky.pipelines.pipeline_run import run_pipeline
from rocky.pipelines.report import PipelineResult
from rocky.plan.request import RunRequest
from rocky.project import load_project
from rocky.project.configuration.blocks import Adapter
from rocky.project.models import Target
from rocky.run.engine import spark
from rocky.run.materialize.build import Materialize
from rocky.run.prepare import session
from rocky.run.prepare.caller import Caller, RunOrigin
from rocky.run.prepare.claims import write_ledger_anchor
from rocky.run.prepare.resources import RunResources
from rocky.state import claims
from rocky.state.session import RemoteSession, open_session
from rocky.store.warehouse import Table, open_warehouse
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import write
from tests.servers.s3 import BUCKET

CLAIM_SECONDS = 1.5
"""How long the claim of a dead machine keeps the others away."""
PATIENCE_SECONDS = 30
SCHEMA = "acme_warehouse.staging__shopify"

CONFIG = """
[adapter]
type = "spark"
warehouse = "{shared}/warehouse"

[pipeline.bronze]
type = "replication"
timestamp_column = "synced"
merge_keys = ["id"]

[pipeline.bronze.source]
path = "{shared}/lake"
catalog = "five"

[pipeline.bronze.source.schema_pattern]
prefix = "src__"
separator = "__"
components = ["tenant", "connector"]

[pipeline.bronze.target]
catalog_template = "{{tenant}}_warehouse"
schema_template = "staging__{{connector}}"

[[pipeline.bronze.table_overrides]]
match = {{ table = "customers" }}
strategy = "merge"

[[pipeline.bronze.table_overrides]]
match = {{ table = "items" }}
strategy = "full_refresh"

[schema_evolution]
grace_period_days = 3

[resilience]
initial_backoff_ms = 1

[state]
backend = "{backend}"
on_upload_failure = "fail"
{state}
"""
BACKENDS = {
    "s3": f's3_bucket = "{BUCKET}"\ns3_prefix = "{{prefix}}/"\n',
    "valkey": 'valkey_url = "${VALKEY_URL}"\nvalkey_prefix = "{prefix}:"\n',
}
POINTS: dict[str, tuple[Any, str]] = {
    "write": (MemoryEngine, "write"),
    "commit": (Table, "commit"),
    "record": (Ledger, "record_models"),
    "finish": (Ledger, "finish_run"),
    "send": (RemoteSession, "finalize"),
}
Rows = list[dict[str, Any]]


@dataclass
class LakeMachine:
    """A machine. `environment` has what reaches the servers."""

    shared: Path
    name: str
    backend: str
    prefix: str
    environment: dict[str, str] = field(repr=False)
    claim_seconds: float = CLAIM_SECONDS
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        state = BACKENDS[self.backend].replace("{prefix}", self.prefix)
        config = CONFIG.format(shared=self.shared, backend=self.backend, state=state)
        write(self.root, {"rocky.toml": config})

    @property
    def root(self) -> Path:
        return self.shared / "machines" / self.name

    @property
    def state(self) -> Path:
        return self.root / ".rocky-state.db"

    def run(
        self,
        *filters: str,
        before_write: Callable[[str], None] | None = None,
        build_table: Materialize | None = None,
        now: datetime | None = None,
    ) -> PipelineResult:
        """One run of the pipeline, as the product opens it."""
        project = load_project(self.root, env=self.environment)
        compilation = compile_project(project, jobs=1, cache=False)
        caller = Caller(
            self.state,
            RunOrigin("Manual", "cli", self.name),
            self.environment,
            warn=self.warnings.append,
        )
        around = {"build_table": build_table, **({"clock": lambda: now} if now else {})}
        made, leave = partial(RunResources, **around), partial(write_ledger_anchor, now=now)
        with (
            self.being_here(before_write),
            patch.object(session, "RunResources", made),
            patch.object(session, "write_ledger_anchor", leave),
        ):
            return run_pipeline(
                compilation, "bronze", RunRequest(parallel=1, filters=filters), caller
            )

    def session(self) -> RemoteSession:
        """A session on the state that all machines share."""
        project = load_project(self.root, env=self.environment)
        session = open_session(project.config.state, self.state, self.environment)
        assert isinstance(session, RemoteSession)
        return session

    @contextmanager
    def being_here(self, before_write: Callable[[str], None] | None = None) -> Iterator[None]:
        """Inside, this process is one of this machine, and its Spark is DuckDB."""

        @contextmanager
        def open_engine(
            _adapter: Adapter, root: Path, _spark: Any, _functions: Any
        ) -> Iterator[MemoryEngine]:
            engine = MemoryEngine(root)
            engine.before_write = before_write or (lambda _: None)
            yield engine

        opened = partial(open_session, claim_seconds=self.claim_seconds)
        with ExitStack() as patched:
            patched.enter_context(patch.object(spark, "open_project_engine", open_engine))
            patched.enter_context(patch.object(session, "open_session", opened))
            patched.enter_context(patch.object(claims, "process_space", lambda: self.name))
            patched.enter_context(patch.object(platform, "node", lambda: self.name))
            yield

    def put(self, table: str, file: str, rows: Rows, types: pa.Schema | None = None) -> None:
        folder = self.shared / "lake/five/src__acme__shopify" / table
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=types), folder / f"{file}.parquet")

    def ids(self, table: str) -> list[int]:
        """The ids of a copy's rows, each as often as it is there."""
        place = open_warehouse("warehouse", base=self.shared).table(
            Target(*SCHEMA.split("."), table)
        )
        snapshot = place.snapshot()
        assert snapshot is not None
        folder = self.shared / "warehouse" / place.prefix
        read = [pq.read_table(folder / file.path, columns=["id"]) for file in snapshot.files]
        return sorted(number for part in read for number in part["id"].to_pylist())

    def runs(self) -> list[RunRecord]:
        """All runs that this machine's file knows, the oldest first."""
        reader = open_history_reader(self.state)
        assert reader is not None
        with reader:
            return list(reversed(reader.runs()))

    def findings(self) -> list[str]:
        """What verifying the evidence finds."""
        evidence = open_evidence_reader(self.state)
        assert evidence is not None
        with evidence:
            found = verify_evidence(evidence, lambda place: open_warehouse(place, base=self.root))
        return [f"{each.code}: {each.where}: {each.message}" for each in found.findings]


def dying(function: Callable[..., Any], number: int, *, before: bool) -> Callable[..., Any]:
    """The function, in which the process is killed when it is called for the nth time."""
    calls = 0

    def call(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if before and calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*given, **named)
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"nobody made {path.name}"
        time.sleep(0.02)


def main(shared: str, name: str, backend: str, prefix: str, point: str, *filters: str) -> None:
    machine = LakeMachine(Path(shared), name, backend, prefix, dict(os.environ))
    if point == "wait":

        def wait(_table: str) -> None:
            (machine.root / "writing").touch()
            wait_for(machine.root / "go-on")

        report = machine.run(*filters, before_write=wait)
        sys.exit(report.run.exit_code)
    when, what, number = point.split()
    owner, attribute = POINTS[what]
    function = getattr(owner, attribute)
    setattr(owner, attribute, dying(function, int(number), before=when == "before"))
    machine.run(*filters)
