"""Binding the models that are stale, in an order in which each finds what it reads.

Level by level, in worker processes when there is much of it. A suspect, which reads a stale model,
is bound again only if it would now see something else. A model that reads one further down (the
scan for references missed it) waits for it; models that wait for each other are a cycle.
"""

from contextlib import nullcontext
from typing import Final

from rocky.analysis.compilation import Record
from rocky.compiler.graph import scan_references, topological_levels
from rocky.compiler.model_binder import bind_model
from rocky.compiler.validity import BindTask, BoundModels, NotReady, Schemas, is_current
from rocky.compiler.workers import (
    PARALLEL_FROM,
    Pool,
    can_fork,
    collect_trees,
    manual_collection,
    worker_count,
)
from rocky.project import ModelFile
from rocky.project.python_models import inputs_of

_MANY: Final = 75
"""From this many models on it pays to help the garbage collector."""


def bind_stale(task: BindTask, outcome: BoundModels) -> None:
    """Fill in the records of the suspects, and the cycles among them."""
    many = len(task.stale) >= _MANY
    with manual_collection() if many else nullcontext():
        work = _Work(task, outcome, many=many)
        try:
            work.run()
        finally:
            work.close()


class _Work:
    """One pass over the levels; holds what the steps share."""

    def __init__(self, task: BindTask, outcome: BoundModels, *, many: bool) -> None:
        self.many = many
        self.task = task
        self.outcome = outcome
        self.schemas = Schemas(task.models, outcome.records)
        self.schemas.broken |= task.blocked
        self.needs = {key: self._needs(key) for key in task.suspects}
        self.pool: Pool | None = None

    def _needs(self, key: str) -> list[str]:
        """Which models one is thought to read: from its record, or from a scan of its text."""
        record = self.task.cached.get(key)
        if record is not None and record.key == self.task.keys[key]:
            named = [parts for parts, _ in record.lookups]
        else:
            named = list(_references(self.task.models[key]))
        found = [self.task.names.model(parts, key) for parts in named]
        return [each for each in found if each is not None and each != key]

    def run(self) -> None:
        levels, left_over = topological_levels(self.task.suspects, self.needs)
        self._start_pool(len(self.task.stale))
        late: list[str] = []
        for level in levels:
            stale = [key for key in level if not self._take_cached(key)]
            self._start_pool(len(stale))
            late += self._bind_level(stale)
        for key in [*late, *left_over]:
            if key not in self.outcome.records and not self._take_cached(key):
                self._bind_chain(key)

    def close(self) -> None:
        if self.pool is not None:
            self.pool.close()

    def _start_pool(self, stale: int) -> None:
        workers = worker_count(self.task.jobs)
        if self.pool is None and stale >= PARALLEL_FROM and workers > 1 and can_fork():
            task = self.task
            self.pool = Pool(workers, task.models, task.keys, task.names, self.outcome.records)

    def _take_cached(self, key: str) -> bool:
        task = self.task
        record = task.cached.get(key)
        if record is None:
            return False
        if not is_current(record, task.keys[key], key, task.names, self.schemas):
            return False
        self.outcome.records[key] = record
        return True

    def _keep(self, key: str, record: Record) -> None:
        self.outcome.records[key] = record
        self.outcome.bound.add(key)

    def _bind(self, key: str) -> None:
        task = self.task
        self._keep(key, bind_model(task.models[key], task.keys[key], task.names, self.schemas))
        # The first collection looks at all that was loaded, too long for a handful of trees.
        if self.many or len(self.outcome.bound) % _MANY == 0:
            collect_trees()

    def _bind_level(self, stale: list[str]) -> list[str]:
        """Bind a level; gives back the models that must wait for another."""
        late: list[str] = []
        if self.pool is not None and len(stale) > 1:
            broken = self.schemas.broken
            records = self.outcome.records
            for key, record in self.pool.bind(stale, records, broken, self.needs):
                if record is not None:
                    self._keep(key, record)
                else:
                    late.append(key)
            return late
        for key in stale:
            try:
                self._bind(key)
            except NotReady:
                late.append(key)
        return late

    def _bind_chain(self, start: str) -> None:
        """Bind a model and, first, whatever it turns out to wait for."""
        path = [start]
        while path:
            key = path[-1]
            try:
                if not self._take_cached(key):
                    self._bind(key)
            except NotReady as missing:
                if missing.key not in path:
                    path.append(missing.key)
                    continue
                self.outcome.cycles.append(_closed(path[path.index(missing.key) :]))
                # Its readers see an unknown table; the cycle itself is reported once.
                self.schemas.broken.add(missing.key)
                continue
            path.pop()


def _references(model: ModelFile) -> set[tuple[str, ...]]:
    """Names a model that was never bound seems to read."""
    if model.is_python:
        return {each.parts for each in inputs_of(model)}
    return scan_references(model.sql)


def _closed(cycle: list[str]) -> list[str]:
    """A cycle that begins and ends at its first name, wherever it was entered."""
    start = cycle.index(min(cycle))
    return [*cycle[start:], *cycle[:start], cycle[start]]
