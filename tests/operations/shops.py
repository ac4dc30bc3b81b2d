"""A shop as Python callers open it: a workspace, and an engine that needs no JVM."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocky.ledger import open_history_reader
from rocky.ledger.run_records import RunRecord
from rocky.operations.workspace import Workspace
from rocky.run.engine import spark as engines
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import PROJECT, Heard, write


class OpenShop:
    """A project on disk and its workspace. `sessions` are those that Spark was opened with."""

    def __init__(self, root: Path, monkeypatch: Any) -> None:
        self.root = root
        self.heard = Heard()
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.sessions: list[Any] = []
        self.before_write = lambda _name: None
        write(root, PROJECT)
        self.workspace = Workspace(
            root,
            spark="a session",
            listener=self.heard,
            warn=self.warnings.append,
            note=self.notes.append,
        )

        @contextmanager
        def open_memory(
            adapter: Any, base: Path, spark: Any = None, functions: Any = None
        ) -> Iterator[MemoryEngine]:
            self.sessions.append(spark)
            engine = MemoryEngine(base)
            engine.before_write = self.before_write
            yield engine

        monkeypatch.setattr(engines, "open_project_engine", open_memory)

    def on(self, **changes: Any) -> Workspace:
        """The workspace with something else in it."""
        return replace(self.workspace, **changes)

    def write(self, name: str, text: str) -> None:
        write(self.root, {name: text})

    def append(self, name: str, text: str) -> None:
        self.write(name, (self.root / name).read_text() + text)

    def records(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        reader = open_history_reader(self.root / ".rocky-state.db")
        if reader is None:
            return ()
        with reader:
            return reader.runs()


def keep(root: Path) -> None:
    """Have a copy of a project beside it."""
    shutil.copytree(root, root.with_name("kept"), symlinks=True)


def put_back(root: Path) -> None:
    """A project as it was kept. Its records name its place, so it comes back there."""
    shutil.rmtree(root)
    shutil.copytree(root.with_name("kept"), root, symlinks=True)
