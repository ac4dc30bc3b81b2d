"""Pins: which version of each table a run reads.

A table that is not built here is pinned when the run starts, one that is built here when it is
committed. Nobody ever reads "latest": a table that moves during a run is not seen to move.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Final

from rocky.errors import InputNotBuilt, InternalError, StoreUnreadable
from rocky.plan.steps import RunPlan
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

_READERS: Final = 16
"""Logs read at once: on an object store each takes a few round trips."""


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at a version."""

    table: Table
    snapshot: Snapshot


class Pins:
    """The tables of a run at their versions, by step id. Threads may share it."""

    def __init__(self, pinned: Mapping[str, PinnedTable]) -> None:
        self._pinned = dict(pinned)
        self._lock = Lock()

    def pin(self, step: str, pinned: PinnedTable) -> None:
        with self._lock:
            self._pinned[step] = pinned

    def of(self, step: str) -> PinnedTable:
        with self._lock:
            if step not in self._pinned:
                raise InternalError(f"`{step}` is read before it is pinned")
            return self._pinned[step]


def load_snapshots(tables: Iterable[Table]) -> list[Snapshot | None]:
    """The newest snapshots of some tables; None for one that does not exist."""
    return _in_threads([table.snapshot for table in tables])


def warm_up(tables: Iterable[Table]) -> None:
    """Read the logs of some tables at once, so that each is known when it is asked for."""

    def look(table: Table) -> Snapshot | None:
        try:
            return table.snapshot()
        except StoreUnreadable:
            # Whoever asks for the table is told, and only what needs it fails.
            return None

    _in_threads([partial(look, table) for table in tables])


def _in_threads(loads: list[Callable[[], Snapshot | None]]) -> list[Snapshot | None]:
    if len(loads) <= 1:
        return [load() for load in loads]
    with ThreadPoolExecutor(min(_READERS, len(loads)), thread_name_prefix="rocky-pin") as pool:
        return list(pool.map(lambda load: load(), loads))


def pin_inputs(plan: RunPlan, warehouse: Warehouse) -> dict[str, PinnedTable]:
    """The tables that are read and not built, as they are now. Raises InputNotBuilt."""
    tables = {key: warehouse.table(plan.project.models[key].target) for key in plan.pinned}
    pinned: dict[str, PinnedTable] = {}
    for (key, table), snapshot in zip(tables.items(), load_snapshots(tables.values()), strict=True):
        if snapshot is None:
            raise InputNotBuilt(_not_built(plan, key))
        pinned[key] = PinnedTable(table, snapshot)
    return pinned


def _not_built(plan: RunPlan, key: str) -> str:
    name = plan.project.models[key].name
    readers = [
        step.name
        for step in plan.steps
        if any(read.kind == "model" and read.key == key for read in step.reads)
    ]
    return (
        f"`{readers[0]}` reads `{name}`, which has not been built yet; "
        f"build it first: `rocky run --model {name}`, or both: `rocky run --model +{readers[0]}`"
    )
