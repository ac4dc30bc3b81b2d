"""A shop whose plans are kept and applied on the command line, with an engine that needs no JVM."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rocky.ledger import open_history_reader
from rocky.ledger.run_records import RunRecord
from rocky.run.engine import spark
from rocky.run.prepare import session
from rocky.run.prepare.environment import Environment, predict_environment
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import PROJECT, write

Hook = Callable[[str], None]


def _as_foreseen(
    facts: Any, adapter: Any, env: Mapping[str, str], root: Path, *, own: bool
) -> Environment | None:
    """The engine of the tests passes for the Spark that was foreseen."""
    return predict_environment(adapter, env, root)


class KeptPlans:
    """A project on disk, run and planned by `rocky` itself. `opened` counts how often Spark began."""

    def __init__(self, root: Path, rocky: Any, monkeypatch: Any) -> None:
        self.root = root
        self.rocky = rocky
        self.opened = 0
        self.before_write: Hook = lambda _: None
        write(root, PROJECT)

        @contextmanager
        def open_memory(
            adapter: Any, base: Path, spark: Any = None, functions: Any = None
        ) -> Iterator[MemoryEngine]:
            self.opened += 1
            engine = MemoryEngine(base)
            engine.before_write = self.before_write
            yield engine

        monkeypatch.setattr(spark, "open_project_engine", open_memory)
        monkeypatch.setattr(session, "observe_environment", _as_foreseen)

    def write(self, name: str, text: str) -> None:
        write(self.root, {name: text})

    def append(self, name: str, text: str) -> None:
        self.write(name, (self.root / name).read_text() + text)

    def plan(self, *options: str) -> str:
        """Make a plan; its id."""
        answer = self.rocky("plan", "-o", "json", *options)
        assert 0 == answer.code, answer.err
        return answer.json["plan_id"]

    def file(self, plan_id: str) -> Path:
        return self.root / f".rocky/plans/{plan_id}.json"

    def kept(self, plan_id: str) -> dict[str, Any]:
        return json.loads(self.file(plan_id).read_text())

    def edit(self, plan_id: str, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the file of a plan by hand."""
        document = self.kept(plan_id)
        change(document)
        self.file(plan_id).write_text(json.dumps(document))

    def records(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        reader = open_history_reader(self.root / ".rocky-state.db")
        if reader is None:
            return ()
        with reader:
            return reader.runs()
