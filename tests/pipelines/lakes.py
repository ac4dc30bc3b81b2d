"""A project that copies a lake of folders, run again and again without a JVM, a day apart."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.compiler.passes import compile_project
from rocky.ledger.readers.history import open_history_reader
from rocky.ledger.writer import open_ledger
from rocky.pipelines.pipeline_run import run_open_pipeline
from rocky.pipelines.report import PipelineResult
from rocky.plan.request import RunRequest
from rocky.project import Project, load_project
from rocky.run.checksums import Checksums
from rocky.run.engine.sources import Sources
from rocky.run.materialize.build import Materialize
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunResources
from rocky.run.prepare.session import RunSession
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import WHO, Heard, write

CONFIG = """
[adapter]
type = "spark"

[pipeline.bronze]
type = "replication"
timestamp_column = "synced"
{settings}

[pipeline.bronze.source]
path = "lake"
catalog = "five"

[pipeline.bronze.source.schema_pattern]
prefix = "src__"
separator = "__"
components = ["tenant", "connector"]

[pipeline.bronze.target]
catalog_template = "{{tenant}}_warehouse"
schema_template = "staging__{{connector}}"
{more}
"""

ORDERS = "acme_warehouse.staging__shopify.orders"


class LakeProject:
    """A lake and the project that copies it. `settings` go into the pipeline, `more` after it."""

    def __init__(self, root: Path, settings: str = "", more: str = "") -> None:
        self.root = root
        write(root, {"rocky.toml": CONFIG.format(settings=settings, more=more)})
        self.engine = MemoryEngine(root)
        self.heard = Heard()
        self.stop = Event()
        self.opened = 0
        self.env: dict[str, str] = {}
        self.now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)

    def put(
        self,
        rows: list[dict[str, Any]],
        table: str = "orders",
        schema: str = "src__acme__shopify",
        *,
        file: str = "part-0.parquet",
        types: pa.Schema | None = None,
    ) -> Path:
        """Write a file of a source table, in place of one of that name."""
        folder = self.root / "lake/five" / schema / table
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=types), folder / file)
        return folder / file

    def run(
        self,
        *,
        before_write: Callable[[str], None] | None = None,
        build_table: Materialize | None = None,
        begun: Callable[[str], None] | None = None,
        pipeline: str = "bronze",
        **asked: Any,
    ) -> PipelineResult:
        """One run of the pipeline, with an engine of its own, as in life."""
        self.now += timedelta(days=1)
        self.engine = MemoryEngine(self.root)
        self.engine.before_write = before_write or (lambda _: None)
        self.heard, self.stop = Heard(), Event()
        project = self.load()
        compilation = compile_project(project, jobs=1, cache=False)
        adapter = project.config.adapter["default"]
        caller = Caller(self.state, WHO, {}, self.heard)
        environment = Environment("4.1.4", "memory", {})
        with open_ledger(self.state) as ledger:
            resources = RunResources(
                open_warehouse("warehouse", base=self.root),
                ledger,
                WHO,
                self._open,
                Sources(self.root, {}, Checksums(self.root)),
                lambda _facts: environment,
                environment,
                build_table=build_table,
                clock=lambda: self.now,
                on_begin=begun,
            )
            opened = RunSession(project, adapter, resources, caller, self.stop)
            settings = project.config.pipeline[pipeline]
            request = RunRequest(parallel=1, **asked)
            return run_open_pipeline(opened, compilation, pipeline, settings, request)

    def load(self) -> Project:
        """The project as a run finds it."""
        return load_project(self.root, env=self.env)

    def reconfigure(self, old: str, new: str) -> None:
        """Change the project's settings."""
        config = self.root / "rocky.toml"
        text = config.read_text()
        assert old in text
        config.write_text(text.replace(old, new))

    @property
    def state(self) -> Path:
        return self.root / ".rocky-state.db"

    def rows(self, name: str = ORDERS) -> list[dict[str, Any]]:
        """The rows of a copy as a reader of Delta finds them, sorted."""
        snapshot = self.snapshot(name)
        folder = self.root / "warehouse" / name.replace(".", "/")
        tables = [pq.read_table(folder / file.path) for file in snapshot.files]
        found = [row for table in tables for row in table.to_pylist()]
        names = [field.name for field in snapshot.schema]
        full = [{each: row.get(each) for each in names} for row in found]
        return sorted(full, key=lambda row: json.dumps(row, default=str, sort_keys=True))

    def snapshot(self, name: str = ORDERS) -> Any:
        catalog, schema, table = name.split(".")
        place = self.root / "warehouse" / catalog / schema / table
        assert place.exists(), f"no table {name}"
        warehouse = open_warehouse("warehouse", base=self.root)
        return next(each for each in warehouse.tables() if each.name == name).snapshot()

    def watermarks(self) -> Mapping[str, str]:
        reader = open_history_reader(self.state)
        assert reader is not None
        with reader:
            return {each.table: each.last_value for each in reader.watermarks()}

    def _open(self) -> MemoryEngine:
        self.opened += 1
        return self.engine


def statuses(report: PipelineResult) -> dict[str, str]:
    """How each table that was copied ended, by its full name."""
    return {each.step.name: each.execution.status.value for each in report.run.outcomes}


def at(day: int, hour: int = 0) -> datetime:
    """A moment of May 2026 in UTC."""
    return datetime(2026, 5, day, hour, tzinfo=UTC)
