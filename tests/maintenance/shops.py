"""A table that runs have appended to, and a reader of it: opened from Python, without a JVM."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest

from rocky.ledger.run_records import ModelStatus
from rocky.ledger.writer import Ledger
from rocky.operations.execution.run import RunReport, run
from rocky.operations.maintenance.compact import CompactRequest, compact
from rocky.operations.maintenance.retention import RetentionRequest, retention
from rocky.operations.proof.verify import VerifyRequest, verify
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from rocky.run.engine import spark as engines
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, open_warehouse
from tests.operations.shops import OpenShop
from tests.run.crash import dying
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop
from tools.verify_run import Audit, load

TABLE = "spark_catalog.default.events"
RUNS = 4
SOURCE = (
    '[[source]]\nname = "raw.visits"\nformat = "csv"\npath = "data/visits.csv"\n'
    'columns = [ { name = "id", type = "bigint" }, { name = "day", type = "date" } ]\n'
)
SIDECAR = 'retention = "{kept}"\n[strategy]\ntype = "incremental"\ntimestamp_column = "day"\n'
TODAY = datetime.now(UTC).date()
INCREMENTAL = '[strategy]\ntype = "incremental"\ntimestamp_column = "id"\n'


class AppendedShop(OpenShop):
    """`events` is appended to; `totals` reads it."""

    def __init__(self, root: Path, monkeypatch: Any) -> None:
        super().__init__(root, monkeypatch)
        self.write("models/events.sql", "SELECT id, country FROM raw.orders")
        self.write("models/events.toml", INCREMENTAL)
        self.write("models/totals.sql", "SELECT country, count(*) AS n FROM events GROUP BY 1")
        self.write_orders(3 * RUNS)

    def make_runs(self) -> None:
        for number in range(1, RUNS + 1):
            self.write_orders(3 * number)
            assert 0 == self.build().exit_code

    def write_orders(self, rows: int) -> None:
        lines = (f"{row},{'DE' if row % 3 else 'FR'}\n" for row in range(1, rows + 1))
        self.write("data/orders.csv", "id,country\n" + "".join(lines))

    def build(self) -> RunReport:
        return run(self.workspace, RunRequest(("events", "totals")))

    def build_all(self) -> RunReport:
        return run(self.workspace, RunRequest())

    @property
    def statuses(self) -> dict[str, ModelStatus]:
        """What became of the models of the newest run."""
        return {each.model_name: each.status for each in self.records()[0].models_executed}

    @property
    def snapshot(self) -> Snapshot:
        tables = open_warehouse("warehouse", base=self.root).tables()
        found = next(each.snapshot() for each in tables if each.name == TABLE)
        assert found is not None
        return found

    @property
    def rows(self) -> list[tuple[object, ...]]:
        return Shop.rows(self, "events")  # type: ignore[arg-type] # it asks for the root alone

    @property
    def folder(self) -> Path:
        return self.root / "warehouse/spark_catalog/default/events"

    def commit(self, version: int) -> Path:
        return self.folder / f"_delta_log/{version:020d}.json"

    def actions(self, version: int) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.commit(version).read_text().splitlines()]

    def findings(self) -> set[str]:
        """What verifying finds, by us and by the script for auditors, which agree."""
        ours = {each.code.value for each in verify(self.workspace, VerifyRequest()).findings}
        script = Audit(load(self.root / ".rocky-state.db"), None)
        script.check()
        assert ours == {each.partition(":")[0] for each in script.findings}
        return ours


class VisitShop(AppendedShop):
    """`events` has a row a day, of the last days: three runs have brought ten days each."""

    def __init__(self, root: Path, monkeypatch: Any) -> None:
        super().__init__(root, monkeypatch)
        self.write("sources/visits.toml", SOURCE)
        self.write("models/events.sql", "SELECT id, day FROM raw.visits")
        self.write("models/totals.sql", "SELECT count(*) AS n FROM events")
        self.write("models/events.toml", SIDECAR.format(kept="15d"))
        self.visit(30, 1)

    def make_runs(self) -> None:
        for newest in (21, 11, 1):
            self.visit(30, newest)
            assert 0 == self.build().exit_code

    def visit(self, oldest: int, newest: int) -> None:
        """A row for each day from so many days ago to so many days ago."""
        days = (TODAY - timedelta(days=ago) for ago in range(oldest, newest - 1, -1))
        lines = "".join(f"{(TODAY - day).days},{day}\n" for day in days)
        self.write("data/visits.csv", f"id,day\n{lines}")


S = TypeVar("S", bound=AppendedShop)


class Template(Generic[S]):
    """A shop after its runs, which are made once and put back from a copy."""

    def __init__(self, folder: Path, kind: type[S]) -> None:
        self._root, self._copy, self._kind = folder / "shop", folder / "copy", kind
        with pytest.MonkeyPatch.context() as patch:
            kind(self._root, patch).make_runs()
        shutil.copytree(self._root, self._copy)

    def reopen(self, monkeypatch: Any) -> S:
        """The shop as its runs left it."""
        shutil.rmtree(self._root)
        shutil.copytree(self._copy, self._root)
        return self._kind(self._root, monkeypatch)


POINTS = {
    "begin": (Ledger, "begin_run"),
    "write": (MemoryEngine, "write"),
    "commit": (Table, "commit"),
    "record": (Ledger, "record_models"),
    "finish": (Ledger, "finish_run"),
}


def maintain_and_die(root: str, verb: str, point: str) -> None:
    """Compact, or delete old rows, in a process that is killed before or after a point."""

    @contextmanager
    def open_memory(_adapter: Any, base: Path, *_more: Any) -> Iterator[MemoryEngine]:
        yield MemoryEngine(base)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "open_project_engine", open_memory)
        when, _, name = point.partition(" ")
        owner, attribute = POINTS[name]
        function = getattr(owner, attribute)
        patch.setattr(owner, attribute, dying(function, 1, before=when == "before"))
        workspace = Workspace(Path(root), spark="a session")
        if verb == "compact":
            compact(workspace, CompactRequest())
        else:
            retention(workspace, RetentionRequest())
