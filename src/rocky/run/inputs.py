"""Inputs: what a step reads, bound to views over pinned data.

Each table, source and inline query is bound once a run, whoever reads it first, so that all its
readers see the same rows. View names are the run's own: two runs in one Spark session do not meet.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from rocky.compiler.names import Names
from rocky.errors import InternalError
from rocky.ledger.records import InputRecord
from rocky.plan.steps import Read, RunPlan, resolve_name, step_id
from rocky.run.cost import total_count
from rocky.run.engine import Engine, Frame
from rocky.run.identity import (
    Identity,
    ProofClass,
    identify_files,
    identify_inline,
    identify_source,
)
from rocky.run.pinning import PinnedTable, Pins
from rocky.store.snapshot import ROWS_HASH

T = TypeVar("T")
_UNSAFE: Final = re.compile(r"[^a-z0-9_]")


@dataclass(frozen=True, slots=True)
class BoundInput:
    """One input of a step. `bytes` is None when nobody knows its size."""

    read: Read
    view: str
    identity: Identity | None
    record: InputRecord
    bytes: int | None


class Inputs:
    """The bound inputs of one run. Threads may share it."""

    def __init__(self, plan: RunPlan, pins: Pins, engine: Engine, prefix: str) -> None:
        self._plan = plan
        self._names = Names(plan.project)
        self._pins = pins
        self._engine = engine
        self._prefix = prefix
        self._bound: _Once[BoundInput] = _Once()
        self._inline: dict[str, BoundInput] = {}
        self._views: list[str] = []

    def of(self, reads: tuple[Read, ...]) -> tuple[BoundInput, ...]:
        """The inputs a step reads, bound."""
        return tuple(self._input(read) for read in reads)

    def view_names(
        self, reader: str, inputs: tuple[BoundInput, ...]
    ) -> Callable[[tuple[str, ...]], str | None]:
        """From a table name in the reader's SQL to its view."""
        views = {each.read: each.view for each in inputs}

        def view_of(parts: tuple[str, ...]) -> str | None:
            lowered = tuple(part.lower() for part in parts)
            read = resolve_name(self._plan.project, self._names, lowered, reader)
            return views.get(read) if read is not None else None

        return view_of

    def bind_inline(
        self,
        key: str,
        frame: Frame,
        inputs: tuple[BoundInput, ...],
        made_from: tuple[str | None, ProofClass | None],
    ) -> None:
        """Give readers a query in place of a table."""
        model = self._plan.project.models[key]
        view = self._view(model.name)
        self._engine.views.bind_frame(view, frame)
        sizes = [each.bytes for each in inputs]
        self._inline[key] = BoundInput(
            Read("model", key),
            view,
            identify_inline(model.target.full_name, *made_from),
            InputRecord(model.name, model.target.full_name, identity=made_from[0]),
            None if None in sizes else total_count(sizes) or 0,
        )

    def close(self) -> None:
        """Drop every view."""
        self._engine.views.unbind(self._views)

    def _input(self, read: Read) -> BoundInput:
        if read.kind == "model" and read.key in self._inline:
            return self._inline[read.key]
        if read.kind == "source":
            return self._bound.get(read, lambda: self._bind_source(read))
        # A table may be pinned anew only before its readers start, so its key is enough.
        return self._bound.get(read, lambda: self._bind_table(read))

    def _bind_table(self, read: Read) -> BoundInput:
        pinned = self._pins.of(step_id(read.kind, read.key))
        project = self._plan.project
        name = (project.models if read.kind == "model" else project.seeds)[read.key].name
        view = self._view(name)
        self._engine.views.bind_table(view, pinned.table, pinned.snapshot)
        identity = identify_files(pinned.table.name, pinned.snapshot.files)
        record = _table_record(name, pinned, identity)
        return BoundInput(read, view, identity, record, pinned.snapshot.bytes)

    def _bind_source(self, read: Read) -> BoundInput:
        source = self._plan.project.sources.get(read.key)
        if source is None:
            raise InternalError(f"no source `{read.key}`")
        view = self._view(source.name)
        pin = self._engine.views.bind_source(view, source)
        identity = identify_source(source.name, pin)
        value = identity.value if identity is not None else None
        record = InputRecord(source.name, uri=source.path, version=pin.version, identity=value)
        return BoundInput(read, view, identity, record, pin.bytes)

    def _view(self, name: str) -> str:
        view = f"{self._prefix}_{self._bound.number()}_{_UNSAFE.sub('_', name.lower())}"
        self._views.append(view)
        return view


def _table_record(name: str, pinned: PinnedTable, identity: Identity) -> InputRecord:
    return InputRecord(
        name,
        pinned.table.name,
        pinned.table.uri,
        str(pinned.snapshot.version),
        identity.value,
        pinned.snapshot.configuration.get(ROWS_HASH),
    )


class _Once(Generic[T]):
    """Values made once a key, by whichever thread comes first; the others wait for it alone."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._locks: dict[Any, Lock] = {}
        self._made: dict[Any, T] = {}
        self._count = 0

    def get(self, key: Any, make: Callable[[], T]) -> T:
        with self._guard:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    def number(self) -> int:
        with self._guard:
            self._count += 1
            return self._count
