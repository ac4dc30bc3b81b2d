"""Machines that run one project on one warehouse, with the ledger kept elsewhere: all but Spark.

Also a program that dies at a chosen point: `python -m tests.state.shops ROOT STATE ADDRESS POINT`.
"""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocky.compiler.passes import compile_project
from rocky.ledger import open_ledger
from rocky.ledger.writer import Ledger
from rocky.plan.selectors import select_models
from rocky.plan.steps import plan_steps
from rocky.project import load_project
from rocky.project.configuration.blocks import State
from rocky.run.checksums import Checksums
from rocky.run.engine.sources import Sources
from rocky.run.execute.runner import run_plan
from rocky.run.outcomes import RunResult
from rocky.run.prepare.claims import write_ledger_anchor
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunParameters, RunResources
from rocky.state.events import SyncEvent
from rocky.state.session import RemoteSession, open_session
from rocky.store.warehouse import Table, open_warehouse
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import WHO, Heard, write
from tests.servers.s3 import s3_environment

PROJECT = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n',
    "sources/raw.toml": (
        '[[source]]\nname = "raw.orders"\nformat = "csv"\npath = "data/orders.csv"\n'
        'columns = [ { name = "id", type = "bigint" }, { name = "ts", type = "bigint" } ]\n'
    ),
    "models/grown.sql": "SELECT id, ts FROM raw.orders",
    "models/grown.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "ts"\n',
    "models/alone.sql": "SELECT count(*) AS n FROM raw.orders",
}
ENVIRONMENT = Environment("4.1.4", "memory", {})
STATE_FILE = ".rocky-state.db"


class RemoteShop:
    """One machine. The warehouse is everybody's."""

    def __init__(self, root: Path, state: State, address: str, claim_seconds: float = 60.0) -> None:
        self.root = root
        self.state = state
        self.address = address
        self.claim_seconds = claim_seconds
        self.events: list[SyncEvent] = []
        self.before_write: Callable[[str], None] = lambda _: None
        root.mkdir(exist_ok=True)
        write(root, PROJECT)
        shared = root.parent / "warehouse"
        shared.mkdir(exist_ok=True)
        if not (root / "warehouse").exists():
            (root / "warehouse").symlink_to(shared)

    @property
    def ledger(self) -> Path:
        return self.root / STATE_FILE

    def orders(self, last: int) -> None:
        """All machines read the same source."""
        lines = "".join(f"{each},{each}\n" for each in range(1, last + 1))
        write(self.root, {"data/orders.csv": "id,ts\n" + lines})

    def session(self) -> RemoteSession:
        session = open_session(
            self.state,
            self.ledger,
            s3_environment(self.address),
            listener=self.events.append,
            claim_seconds=self.claim_seconds,
        )
        assert isinstance(session, RemoteSession)
        return session

    def run(self, *selectors: str) -> RunResult:
        """A run as `rocky run` makes it."""
        project = load_project(self.root, env={}, variables={})
        compilation = compile_project(project, jobs=1, cache=False)
        plan = plan_steps(compilation, select_models(compilation, selectors))
        warehouse = open_warehouse("warehouse", base=self.root)
        with self.session() as session:
            session.acquire()
            with open_ledger(self.ledger, is_alive_elsewhere=session.is_alive) as ledger:
                report = run_plan(
                    plan,
                    RunResources(
                        warehouse,
                        ledger,
                        replace(WHO, hostname=self.root.name),
                        self._open,
                        Sources(self.root, {}, Checksums(self.root)),
                        lambda _: ENVIRONMENT,
                        ENVIRONMENT,
                        remote=session,
                    ),
                    RunParameters(parallel=1),
                    listener=Heard(),
                    clock=lambda: datetime.now(UTC),
                )
            session.finalize(report.run_id)
            with open_ledger(self.ledger) as ledger:
                if session.published_head == ledger.head():
                    write_ledger_anchor(
                        warehouse, ledger, ledger.head(), report.run_id, remote=session
                    )
        return report

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """What a reader of the table sees."""
        place = open_warehouse("warehouse", base=self.root).table(
            _Name("spark_catalog", "default", table)
        )
        snapshot = place.snapshot()
        assert snapshot is not None
        engine = MemoryEngine(self.root)
        engine.views.bind_table("t", place, snapshot)
        return sorted(engine.rows("SELECT * FROM t", 1000))

    def _open(self) -> MemoryEngine:
        engine = MemoryEngine(self.root)
        engine.before_write = self.before_write
        return engine


class _Name:
    def __init__(self, catalog: str, schema: str, table: str) -> None:
        self.catalog, self.schema, self.table = catalog, schema, table


POINTS: dict[str, tuple[Any, str]] = {
    "begin": (Ledger, "begin_run"),
    "publish": (RemoteSession, "publish"),
    "commit": (Table, "commit"),
    "record": (Ledger, "record_models"),
    "finish": (Ledger, "finish_run"),
    "finalize": (RemoteSession, "finalize"),
}


def die_after(owner: Any, name: str) -> None:
    function = getattr(owner, name)

    def call_and_die(*given: Any, **named: Any) -> None:
        function(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, call_and_die)


def run_and_die(root: Path, state: State, address: str, point: str) -> None:
    """Run a shop in this process, which is killed after a step."""
    die_after(*POINTS[point])
    RemoteShop(root, state, address).run()
