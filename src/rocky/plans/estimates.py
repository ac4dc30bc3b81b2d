"""Estimates: what a build may take, from what the last builds of the same model took.

A model that was never built has no estimate, and that is not the same as nothing: sums say which
models they were made without.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from pathlib import Path
from typing import Any, Final, NamedTuple

from rocky.ledger import Reader, open_reader
from rocky.ledger.records import ModelExecution, ModelStatus
from rocky.plan.steps import RunPlan, Step
from rocky.project.settings import Budget
from rocky.run.resume import RESUMED

_LOOKED_AT: Final = 100
"""Executions of a model that are looked at, at most, to find the builds among them."""
_NOT_BUILT: Final = frozenset({"skip", "reuse", RESUMED})


class Unit(NamedTuple):
    """A table that may be built. `after` are the ids of those that must be built before it."""

    id: str
    name: str
    after: tuple[str, ...] = ()
    budget: Budget | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The means of the last builds, `from_runs` of them. None: none of them measured it."""

    from_runs: int
    duration_ms: int | None = None
    cost_usd: float | None = None
    bytes_scanned: int | None = None

    def document(self) -> dict[str, Any]:
        facts = {
            "duration_ms": self.duration_ms,
            "cost_usd": self.cost_usd,
            "bytes_scanned": self.bytes_scanned,
        }
        known = {name: value for name, value in facts.items() if value is not None}
        return {**known, "from_runs": self.from_runs}


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

    def document(self) -> dict[str, Any]:
        """The sums as JSON; `without` are models that have no estimate."""
        sums = {
            "cost_usd": self.cost_usd.value,
            "duration_ms": self.duration_ms.value,
            "bytes_scanned": self.bytes_scanned.value,
        }
        known: dict[str, Any] = {name: value for name, value in sums.items() if value is not None}
        without = dict.fromkeys(self.duration_ms.without)
        return {**known, "without": list(without)}


def units_of(plan: RunPlan, builds: Sequence[Step]) -> tuple[Unit, ...]:
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
        )
        for step in builds
    )


def estimate_units(state: Path, units: Sequence[Unit], runs: int, parallel: int) -> Estimates:
    """What building these may take, from at most `runs` builds of each. Raises LedgerUnreadable."""
    found: dict[str, Estimate] = {}
    reader = open_reader(state)
    if reader is not None:
        with reader:
            found = {
                unit.name: estimate
                for unit in units
                if (estimate := _estimate(reader, unit.name, runs)) is not None
            }
    return Estimates(
        found,
        _sum(units, {name: each.cost_usd for name, each in found.items()}),
        _wall_time(units, {name: each.duration_ms for name, each in found.items()}, parallel),
        _sum(units, {name: each.bytes_scanned for name, each in found.items()}),
    )


def _estimate(reader: Reader, name: str, runs: int) -> Estimate | None:
    built: list[ModelExecution] = []
    # Mostly the newest are builds; only where they are not it is worth reading many.
    for limit in (2 * runs, max(_LOOKED_AT, 4 * runs)):
        found = reader.executions(name, limit)
        built = [each.execution for each in found if _was_built(each.execution)][:runs]
        if len(built) == runs or len(found) < limit:
            break
    if not built:
        return None
    duration = _mean([each.duration_ms for each in built])
    scanned = _mean([each.bytes_scanned for each in built])
    return Estimate(
        len(built),
        None if duration is None else round(duration),
        _mean([each.cost_usd for each in built]),
        None if scanned is None else round(scanned),
    )


def _was_built(execution: ModelExecution) -> bool:
    return execution.status is ModelStatus.SUCCESS and execution.decision not in _NOT_BUILT


def _mean(values: Iterable[float | None]) -> float | None:
    known = [each for each in values if each is not None]
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
