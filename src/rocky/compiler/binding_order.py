"""Binding every stale model of a project in an order in which each finds what it reads.

Cached records are taken where they still hold. The rest is bound level by level, in worker
processes when there is much of it. A model that reads one further down (the scan for references
missed it) waits for it; models that wait for each other are a cycle.
"""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rocky.compiler.bind import NotReady, Schemas, bind_model, is_current
from rocky.compiler.graph import scan_references, topological_levels
from rocky.compiler.names import Names
from rocky.compiler.records import Record
from rocky.compiler.workers import PARALLEL_FROM, Pool, can_fork, worker_count
from rocky.project import ModelFile


class Bound:
    """The outcome: a record for each model that could be bound, and the cycles found."""

    __slots__ = ("bound", "cycles", "records")

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.cycles: list[list[str]] = []
        self.bound: set[str] = set()


def bind_models(
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
    blocked: frozenset[str],
    jobs: int | None = None,
) -> Bound:
    """Bind what the cache does not answer."""
    outcome = Bound()
    schemas = Schemas(models, outcome.records)
    schemas.broken |= blocked
    usable = [key for key in models if key not in blocked]
    needs = _needs(usable, models, keys, cached, names)
    stale = sum(1 for key in usable if key not in cached or cached[key].key != keys[key])
    workers = worker_count(jobs)
    with _quiet_collector(stale):
        pool = None
        if stale >= PARALLEL_FROM and workers > 1 and can_fork():
            pool = Pool(workers, models, keys, names)
        try:
            _Work(models, keys, cached, names, needs, schemas, outcome, pool).run(usable)
        finally:
            if pool is not None:
                pool.close()
    return outcome


def _needs(
    usable: list[str],
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    cached: Mapping[str, Record],
    names: Names,
) -> dict[str, list[str]]:
    """Which models each is thought to read: from its record, or from a scan of its text."""
    needs: dict[str, list[str]] = {}
    for key in usable:
        record = cached.get(key)
        if record is not None and record.key == keys[key]:
            parts = [each for each, _ in record.lookups]
        else:
            parts = list(scan_references(models[key].sql))
        found = [names.model(each, key) for each in parts]
        needs[key] = [each for each in found if each is not None and each != key]
    return needs


class _Work:
    """One pass over the levels; holds what the steps share."""

    def __init__(
        self,
        models: Mapping[str, ModelFile],
        keys: Mapping[str, bytes],
        cached: Mapping[str, Record],
        names: Names,
        needs: dict[str, list[str]],
        schemas: Schemas,
        outcome: Bound,
        pool: Pool | None,
    ) -> None:
        self.models = models
        self.keys = keys
        self.cached = cached
        self.names = names
        self.needs = needs
        self.schemas = schemas
        self.outcome = outcome
        self.pool = pool

    def run(self, usable: list[str]) -> None:
        levels, left_over = topological_levels(usable, self.needs)
        late: list[str] = []
        for level in levels:
            stale = [key for key in level if not self._take_cached(key)]
            late += self._bind_level(stale)
        for key in [*late, *left_over]:
            if key not in self.outcome.records and not self._take_cached(key):
                self._bind_chain(key)

    def _take_cached(self, key: str) -> bool:
        record = self.cached.get(key)
        if record is None or not is_current(record, self.keys[key], key, self.names, self.schemas):
            return False
        self.outcome.records[key] = record
        return True

    def _keep(self, key: str, record: Record) -> None:
        self.outcome.records[key] = record
        self.outcome.bound.add(key)

    def _bind_level(self, stale: list[str]) -> list[str]:
        """Bind a level; gives back the models that must wait for another."""
        late: list[str] = []
        if self.pool is not None and len(stale) > 1:
            for key, record, missing in self.pool.bind(
                stale, self.outcome.records, self.schemas.broken, self.needs
            ):
                if record is not None:
                    self._keep(key, record)
                else:
                    late.append(key)
                    self.needs[key].append(str(missing))
            return late
        for key in stale:
            try:
                self._keep(
                    key, bind_model(self.models[key], self.keys[key], self.names, self.schemas)
                )
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
                    model = self.models[key]
                    self._keep(key, bind_model(model, self.keys[key], self.names, self.schemas))
            except NotReady as missing:
                if missing.key not in path:
                    path.append(missing.key)
                    continue
                cycle = path[path.index(missing.key) :]
                self.outcome.cycles.append([*cycle, missing.key])
                # Its readers see an unknown table; the cycle itself is reported once.
                self.schemas.broken.add(missing.key)
                continue
            path.pop()


@contextmanager
def _quiet_collector(stale: int) -> Iterator[None]:
    """Trees are cyclic garbage; collecting them rarely saves a tenth of a cold compile."""
    if stale < PARALLEL_FROM // 4:
        yield
        return
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
