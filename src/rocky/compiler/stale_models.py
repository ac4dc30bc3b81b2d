"""Binding the models that are stale, in an order in which each finds what it reads.

Level by level, in worker processes when there is much of it. A suspect, which reads a stale model,
is bound again only if it would now see something else. A model that reads one further down (the
scan for references missed it) waits for it; models that wait for each other are a cycle.

Workers are forked after the project is loaded, so texts and the records known so far are never
sent. What travels is the keys to bind, the records of models they read, and the records that come
back; never a syntax tree. Syntax trees have cycles, so only the collector frees them: run once
after each model, when all of the model's tree is dead, it costs half as much and memory stays flat.
"""

import gc
import marshal
import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from multiprocessing.connection import Connection
from typing import Any, Final

from rocky.analysis.compilation import Record
from rocky.analysis.names import Names
from rocky.analysis.python_plans import GivenPlans, PlanUse, pack_plan, unpack_plan
from rocky.compiler.garbage import collect_trees, is_thawed, manual_collection
from rocky.compiler.graph import scan_references, topological_levels
from rocky.compiler.model_binder import ModelTables, bind_model
from rocky.compiler.validity import BindTask, BoundModels, NotReady, Schemas, is_current
from rocky.project import ModelFile
from rocky.project.python_models import inputs_of

PARALLEL_FROM: Final = 300
"""Below this many stale models, starting processes costs more than it saves."""
_MOST_WORKERS: Final = 8
_CHUNK: Final = 64

Outcome = tuple[str, Record | None]
"""A model's key with its record; with None when it must wait for another model."""
Answer = list[tuple[str, tuple[Any, ...] | None]]
SentPlans = tuple[PlanUse, str | None, Mapping[str, bytes]]
"""Plans on their way to a worker: what there can be, why not, and those that there are, packed."""


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods() and os.name == "posix"


def worker_count(jobs: int | None) -> int:
    """How many processes to use: what was asked for, else one a core up to eight."""
    if jobs is not None:
        return max(1, jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return min(cores, _MOST_WORKERS)


class Pool:
    """Forked workers that bind models on demand. `records` are those they start with."""

    def __init__(
        self,
        count: int,
        models: Mapping[str, ModelFile],
        keys: Mapping[str, bytes],
        names: Names,
        records: Mapping[str, Record],
    ) -> None:
        context = multiprocessing.get_context("fork")
        # Collecting would touch, and so copy, every page the workers share with us.
        self._thaws = is_thawed()
        gc.freeze()
        self._pipes: list[Connection] = []
        self._processes = []
        self._known = [set(records) for _ in range(count)]
        for _ in range(count):
            ours, theirs = context.Pipe()
            self._pipes.append(ours)
            process = context.Process(
                target=_serve,
                args=(theirs, list(self._pipes), models, keys, names, dict(records)),
                daemon=True,
                name="rocky-bind",
            )
            process.start()
            theirs.close()
            self._processes.append(process)

    def bind(
        self,
        keys: Sequence[str],
        records: Mapping[str, Record],
        broken: set[str],
        needs: Mapping[str, Sequence[str]],
        plans: SentPlans,
    ) -> Iterator[Outcome]:
        """Bind one level of models, in chunks dealt out as workers become free."""
        size = max(1, min(_CHUNK, -(-len(keys) // len(self._pipes))))
        chunks = [keys[at : at + size] for at in range(0, len(keys), size)]
        waiting: dict[Any, tuple[int, Sequence[str]]] = {}
        free = [index for index, pipe in enumerate(self._pipes) if not pipe.closed]
        while chunks or waiting:
            while chunks and free:
                index, chunk = free.pop(), chunks.pop()
                self._send(index, chunk, records, broken, needs, plans)
                waiting[self._pipes[index]] = index, chunk
            if not waiting:
                # Every worker is gone: the caller binds the rest itself.
                yield from ((key, None) for key in chunks.pop())
                continue
            for pipe in multiprocessing.connection.wait(list(waiting)):
                index, chunk = waiting.pop(pipe)
                answer = self._receive(index)
                if answer is None:
                    yield from ((key, None) for key in chunk)
                    continue
                free.append(index)
                for key, fields in answer:
                    yield key, Record(*fields) if fields else None

    def _send(
        self,
        index: int,
        keys: Sequence[str],
        records: Mapping[str, Record],
        broken: set[str],
        needs: Mapping[str, Sequence[str]],
        plans: SentPlans,
    ) -> None:
        known = self._known[index]
        wanted = {each for key in keys for each in needs.get(key, ()) if each in records} - known
        known |= wanted
        fresh = {key: tuple(records[key]) for key in wanted}
        use, hindrance, packed = plans
        own = (use, hindrance, {key: packed[key] for key in keys if key in packed})
        # When the worker is gone, its missing answer says so.
        with suppress(OSError):
            # `marshal` trusts its input: both ends of the pipe are this process and its fork.
            self._pipes[index].send_bytes(marshal.dumps((list(keys), fresh, broken, own)))

    def _receive(self, index: int) -> Answer | None:
        """A worker's answer; None when somebody killed it."""
        try:
            answer: Answer = marshal.loads(self._pipes[index].recv_bytes())
        except (EOFError, OSError):
            self._pipes[index].close()
            return None
        self._known[index].update(key for key, fields in answer if fields)
        return answer

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join()
        if self._thaws:
            gc.unfreeze()


def _serve(
    pipe: Connection,
    inherited: Sequence[Connection],
    models: Mapping[str, ModelFile],
    keys: Mapping[str, bytes],
    names: Names,
    records: dict[str, Record],
) -> None:
    """A worker's life: bind what is asked until the other end of the pipe is gone."""
    # The coordinator's ends came along with the fork; held open, they would hide its death.
    for each in inherited:
        each.close()
    schemas = Schemas(models, records)
    while True:
        try:
            wanted, fresh, broken, own = marshal.loads(pipe.recv_bytes())
        except (EOFError, OSError):
            return
        for key, fields in fresh.items():
            records[key] = Record(*fields)
        schemas.broken |= broken
        plans = GivenPlans(own[0], own[1], {k: unpack_plan(each) for k, each in own[2].items()})
        answer: Answer = []
        for key in wanted:
            try:
                record = bind_model(models[key], keys[key], names, schemas, plans=plans)
                records[key] = record
            except NotReady:
                answer.append((key, None))
            else:
                answer.append((key, tuple(record)))
            collect_trees()
        with suppress(OSError):
            pipe.send_bytes(marshal.dumps(answer))


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
            plans = self._prepare_plans(stale)
            late += self._bind_level(stale, plans)
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
        if not is_current(record, task.keys[key], key, task.names, self.schemas, task.plans.use):
            return False
        self.outcome.records[key] = record
        return True

    def _keep(self, key: str, record: Record) -> None:
        self.outcome.records[key] = record
        self.outcome.bound.add(key)

    def _bind(self, key: str) -> None:
        task = self.task
        found = bind_model(
            task.models[key], task.keys[key], task.names, self.schemas, plans=task.plans
        )
        self._keep(key, found)
        # The first collection looks at all that was loaded, too long for a handful of trees.
        if self.many or len(self.outcome.bound) % _MANY == 0:
            collect_trees()

    def _prepare_plans(self, stale: list[str]) -> SentPlans:
        """Have the plans of all Python models of a level made at once."""
        plans = self.task.plans
        python = [self.task.models[key] for key in stale if self.task.models[key].is_python]
        packed: dict[str, bytes] = {}
        if python and plans.use != "off":
            # A project without Python models shall not wait for it.
            from rocky.compiler.python_binder import plan_request  # noqa: PLC0415

            requests = []
            for model in python:
                # One that reads a model further down waits for it, and is asked for then.
                with suppress(NotReady):
                    tables = ModelTables(model.key, self.task.names, self.schemas)
                    requests.append(plan_request(model, tables))
            wanted = [each for each in requests if each is not None]
            plans.prepare(wanted)
            found = {each.model.key: plans.find(each) for each in wanted} if self.pool else {}
            packed = {key: pack_plan(each) for key, each in found.items() if each is not None}
        return plans.use, plans.hindrance, packed

    def _bind_level(self, stale: list[str], plans: SentPlans) -> list[str]:
        """Bind a level; gives back the models that must wait for another."""
        late: list[str] = []
        if self.pool is not None and len(stale) > 1:
            broken = self.schemas.broken
            records = self.outcome.records
            for key, record in self.pool.bind(stale, records, broken, self.needs, plans):
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
