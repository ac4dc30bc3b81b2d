"""Estimates: what a build may take, from what the last builds of as much of the table took.

A build that adds what is new says nothing of one that makes the whole table again: the extents of
both must be alike. A model that was never built has no estimate, and that is not the same as
nothing: sums say which models they were made without.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import heapify, heapreplace
from pathlib import Path
from typing import Any, Final, NamedTuple

from rocky.errors import RockyError
from rocky.ledger import HistoryReader, open_history_reader
from rocky.ledger.readers.history import RecordedExecution
from rocky.ledger.run_records import ModelExecution, ModelStatus
from rocky.plan.intervals import all_keys
from rocky.plan.kept_plan import PlanDocument
from rocky.plan.steps import FULL_REFRESH, HELD, NEVER_BUILT, RESUMED, RunPlan, Step
from rocky.plan.watermarks import NO_WATERMARK
from rocky.project.configuration.model import Budget
from rocky.project.configuration.strategies import (
    Append,
    DeleteInsert,
    Incremental,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
)

_ADDING: Final = (Incremental, Microbatch, Merge, DeleteInsert, Snapshot, Append)
_WHOLE_ACTIONS: Final = frozenset({"replaced", "created", "same content"})
_WHOLE_REASONS: Final = frozenset({NEVER_BUILT, NO_WATERMARK, FULL_REFRESH})


class Extent(NamedTuple):
    """How much is built: `whole` or not, or so many time `intervals`; neither: always the same.

    `counted` where it is intervals; how many they are may not be known.
    """

    whole: bool | None = None
    counted: bool = False
    intervals: int | None = None

    @property
    def lacking(self) -> str:
        """Why there is no estimate, when no build of this extent is known."""
        if self.counted:
            return "no build of its time intervals is recorded"
        if self.whole is None:
            return "no build of it is recorded"
        part = "all" if self.whole else "only a part"
        return f"no build of {part} of it is recorded"

    def covers(self, execution: ModelExecution) -> bool:
        """Whether a build was of this extent. Intervals are not looked at."""
        return self.whole is None or self.whole == _was_whole(execution)


WHOLE_TABLE: Final = Extent()


def extent_of(
    plan: RunPlan, step: Step, relies_on: PlanDocument, now: datetime, *, full_refresh: bool
) -> Extent:
    """How much of a step's table would be built. `relies_on` is how things stand."""
    if step.kind != "build":
        return WHOLE_TABLE
    model = plan.project.models[step.key]
    strategy = model.strategy
    if isinstance(strategy, TimeInterval):
        if not full_refresh:
            found = relies_on.get("intervals", {}).get(model.name)
            return Extent(None, counted=True, intervals=None if found is None else len(found))
        try:
            return Extent(None, counted=True, intervals=len(all_keys(strategy, now)))
        except RockyError:
            # The run will say what is wrong with it.
            return Extent(None, counted=True)
    if not isinstance(strategy, _ADDING):
        return WHOLE_TABLE
    name = model.target.full_name
    table: Any = relies_on.get("tables", {}).get(name) or {}
    whole = full_refresh or "version" not in table
    if isinstance(strategy, Incremental | Microbatch):
        recorded = relies_on.get("watermarks", {}).get(name) == "recorded"
        whole = whole or not recorded or "watermark" not in table
    return Extent(whole)


def extents_of(
    plan: RunPlan,
    builds: Sequence[Step],
    relies_on: PlanDocument,
    now: datetime,
    *,
    full_refresh: bool,
) -> dict[str, Extent]:
    """The extents of some steps, by their ids."""
    return {
        step.id: extent_of(plan, step, relies_on, now, full_refresh=full_refresh) for step in builds
    }


def _was_whole(execution: ModelExecution) -> bool:
    action = (execution.action or "").partition(";")[0]
    return action in _WHOLE_ACTIONS or execution.reason in _WHOLE_REASONS


_LOOKED_AT: Final = 100
"""Executions of a model that are looked at, at most, to find the builds among them."""
_NOT_BUILT: Final = frozenset(
    {"skip", "reuse", RESUMED, HELD, "clone", "promote", "revert", "compact", "expire"}
)


class Unit(NamedTuple):
    """A table that may be built. `after` are the ids of those that must be built before it.

    `extent` is how much of it would be built.
    """

    id: str
    name: str
    after: tuple[str, ...] = ()
    budget: Budget | None = None
    extent: Extent = WHOLE_TABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The means of the last builds, `from_runs` of them. None: none of them measured it."""

    duration_ms: int | None = None
    cost_usd: float | None = None
    bytes_scanned: int | None = None
    from_runs: int


class Total(NamedTuple):
    """A sum, and the names of those it was made without. None where nothing is known of any."""

    value: float | None
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimates:
    """What a run may take if all that may be built is built: model by model, and together.

    The duration is what so many models at a time take, each after those it reads.
    """

    models: Mapping[str, Estimate]
    cost_usd: Total
    duration_ms: Total
    bytes_scanned: Total

    @property
    def totals(self) -> "EstimatedTotals":
        """What is known of all together."""
        return EstimatedTotals(
            cost_usd=self.cost_usd.value,
            duration_ms=self.duration_ms.value,
            bytes_scanned=self.bytes_scanned.value,
            without=tuple(dict.fromkeys(self.duration_ms.without)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedTotals:
    """The sums of a run's estimates; `without` are models that have none."""

    cost_usd: float | None = None
    duration_ms: float | None = None
    bytes_scanned: float | None = None
    without: tuple[str, ...]


def units_of(
    plan: RunPlan, builds: Sequence[Step], extents: Mapping[str, Extent]
) -> tuple[Unit, ...]:
    """The tables of some steps, each after those whose tables it reads, also through queries."""
    steps = {step.id: step for step in plan.steps}
    wanted = {step.id for step in builds}
    above: dict[str, frozenset[str]] = {}

    def find_above(step: Step) -> frozenset[str]:
        if step.id not in above:
            found: set[str] = set()
            for each in step.after:
                found |= {each} if each in wanted else find_above(steps[each])
            above[step.id] = frozenset(found)
        return above[step.id]

    return tuple(
        Unit(
            step.id,
            step.name,
            tuple(sorted(find_above(step))),
            None if step.kind == "seed" else plan.project.models[step.key].settings.budget,
            extents.get(step.id, WHOLE_TABLE),
        )
        for step in builds
    )


def estimate_units(state: Path, units: Sequence[Unit], runs: int, parallel: int) -> Estimates:
    """What building these may take, from at most `runs` builds of each. Raises LedgerUnreadable."""
    found: dict[str, Estimate] = {}
    reader = open_history_reader(state)
    if reader is not None:
        with reader:
            found = {
                unit.name: estimate
                for unit in units
                if (estimate := _estimate(reader, unit, runs)) is not None
            }
    return Estimates(
        found,
        _sum(units, {name: each.cost_usd for name, each in found.items()}),
        _wall_time(units, {name: each.duration_ms for name, each in found.items()}, parallel),
        _sum(units, {name: each.bytes_scanned for name, each in found.items()}),
    )


def _estimate(reader: HistoryReader, unit: Unit, runs: int) -> Estimate | None:
    scale = _scales(reader, unit)
    built: list[RecordedExecution] = []
    # Mostly the newest are builds; only where they are not it is worth reading many.
    for limit in (2 * runs, max(_LOOKED_AT, 4 * runs)):
        found = reader.executions(unit.name, limit)
        built = [
            each
            for each in found
            if _was_built(each.execution)
            and unit.extent.covers(each.execution)
            and scale(each.run_id) is not None
        ][:runs]
        if len(built) == runs or len(found) < limit:
            break
    if not built:
        return None
    duration, cost, scanned = (
        _mean(
            value * (scale(each.run_id) or 0)
            for each in built
            if (value := getattr(each.execution, name)) is not None
        )
        for name in ("duration_ms", "cost_usd", "bytes_scanned")
    )
    return Estimate(
        duration_ms=None if duration is None else round(duration),
        cost_usd=cost,
        bytes_scanned=None if scanned is None else round(scanned),
        from_runs=len(built),
    )


def _was_built(execution: ModelExecution) -> bool:
    return execution.status is ModelStatus.SUCCESS and execution.decision not in _NOT_BUILT


def _scales(reader: HistoryReader, unit: Unit) -> Callable[[str], float | None]:
    """By how much what a run used is to be multiplied; None for a run that tells nothing."""
    extent = unit.extent
    if not extent.counted:
        return lambda _run: 1.0
    # Of intervals that were built again only the last run is known: rather too much than too few.
    counts: Counter[str] = Counter(each.run_id for each in reader.partitions(unit.name))
    wanted = extent.intervals
    return lambda run: None if wanted is None or not counts[run] else wanted / counts[run]


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return sum(known) / len(known) if known else None


def _sum(units: Sequence[Unit], values: Mapping[str, float | None]) -> Total:
    known = [value for unit in units if (value := values.get(unit.name)) is not None]
    without = tuple(unit.name for unit in units if values.get(unit.name) is None)
    return Total(None if units and not known else sum(known), without)


def _wall_time(
    units: Sequence[Unit], durations: Mapping[str, float | None], parallel: int
) -> Total:
    """How long it takes when so many are built at a time, in their order."""
    without = tuple(unit.name for unit in units if durations.get(unit.name) is None)
    if units and len(without) == len(units):
        return Total(None, without)
    free = [0.0] * parallel
    heapify(free)
    ended: dict[str, float] = {}
    for unit in units:
        begins = max([free[0], *(ended.get(each, 0.0) for each in unit.after)])
        ended[unit.id] = begins + (durations.get(unit.name) or 0)
        heapreplace(free, ended[unit.id])
    return Total(round(max(ended.values(), default=0)), without)
