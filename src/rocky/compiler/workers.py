"""Worker processes for cold compiles: models of one level at a time, shared out.

Workers are forked after the project is loaded, so texts are never sent. What travels is the keys
to bind, the records of models they read, and the records that come back; never a syntax tree.
"""

import contextlib
import gc
import multiprocessing
import os
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import Any, Final

from rocky.compiler.bind import NotReady, Schemas, bind_model
from rocky.compiler.names import Names
from rocky.compiler.records import Record
from rocky.project import ModelFile

PARALLEL_FROM: Final = 300
"""Below this many stale models, starting processes costs more than it saves."""
_MOST_WORKERS: Final = 8
_CHUNK: Final = 64


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods() and os.name == "posix"


def worker_count(jobs: int | None) -> int:
    """How many processes to use: what was asked for, else one a core up to eight."""
    if jobs is not None:
        return max(1, jobs)
    return min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, _MOST_WORKERS
    )


Outcome = tuple[str, Record | None, str | None]
"""A model's key with its record, or with the key of the model it must wait for."""


class Pool:
    """Forked workers that bind models on demand."""

    def __init__(
        self, count: int, models: Mapping[str, ModelFile], keys: Mapping[str, bytes], names: Names
    ) -> None:
        context = multiprocessing.get_context("fork")
        gc.freeze()
        self._pipes: list[Connection] = []
        self._processes = []
        self._sent: list[set[str]] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, models, keys, names), daemon=True, name="rocky-bind"
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
            self._sent.append(set())

    def bind(
        self,
        keys: Sequence[str],
        records: Mapping[str, Record],
        broken: set[str],
        needs: Mapping[str, Sequence[str]],
    ) -> list[Outcome]:
        """Bind one level of models, in chunks dealt out as workers become free."""
        size = max(1, min(_CHUNK, -(-len(keys) // len(self._pipes))))
        chunks = [keys[at : at + size] for at in range(0, len(keys), size)]
        outcomes: list[Outcome] = []
        waiting: dict[Any, int] = {}
        for index, pipe in enumerate(self._pipes):
            if chunks:
                self._send(index, chunks.pop(), records, broken, needs)
                waiting[pipe] = index
        while waiting:
            for ready in multiprocessing.connection.wait(list(waiting)):
                index = waiting.pop(ready)
                outcomes.extend(self._pipes[index].recv())
                if chunks:
                    self._send(index, chunks.pop(), records, broken, needs)
                    waiting[ready] = index
        return outcomes

    def _send(
        self,
        index: int,
        keys: Sequence[str],
        records: Mapping[str, Record],
        broken: set[str],
        needs: Mapping[str, Sequence[str]],
    ) -> None:
        sent = self._sent[index]
        wanted = {each for key in keys for each in needs.get(key, ()) if each in records} - sent
        sent |= wanted
        self._pipes[index].send((list(keys), {key: records[key] for key in wanted}, broken))

    def close(self) -> None:
        for pipe in self._pipes:
            # A forked worker holds its own copy of our end, so closing alone would not wake it.
            with contextlib.suppress(OSError):
                pipe.send(None)
            pipe.close()
        for process in self._processes:
            process.join()
        gc.unfreeze()


def _serve(
    pipe: Connection, models: Mapping[str, ModelFile], keys: Mapping[str, bytes], names: Names
) -> None:
    """A worker's life: bind what is asked until the pipe closes."""
    gc.set_threshold(200_000, 20, 20)
    records: dict[str, Record] = {}
    schemas = Schemas(models, records)
    while True:
        task = pipe.recv()
        if task is None:
            return
        wanted, fresh, broken = task
        records.update(fresh)
        schemas.broken |= broken
        outcomes: list[Outcome] = []
        for key in wanted:
            try:
                record = bind_model(models[key], keys[key], names, schemas)
            except NotReady as missing:
                outcomes.append((key, None, missing.key))
            else:
                outcomes.append((key, record, None))
        pipe.send(outcomes)
