"""Usage: what models used together, and what reuse spared.

None is "nobody measured it", which is not zero. What a reused model spared is what its build took
in the run that built it, at the price of then: what it would take today nobody knows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution

Builds = Mapping[tuple[RunId, str], ModelExecution]
"""The executions that reused models stand on, by run and model name in lower case."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model, or several together, used. None: nobody measured it."""

    duration_ms: int
    core_ms: int | None
    bytes_scanned: int | None
    bytes_written: int | None
    shuffle_bytes: int | None
    spill_bytes: int | None
    peak_memory_bytes: int | None
    rows_affected: int | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Saving:
    """What reused models did not take. `unknown` counts those whose build is not recorded."""

    models: int
    unknown: int
    duration_ms: int | None
    core_ms: int | None
    cost_usd: float | None


def usage_of(executions: Sequence[ModelExecution]) -> Usage:
    """Sums, and the highest peak."""
    metrics = [each.metrics for each in executions if each.metrics is not None]
    return Usage(
        sum(each.duration_ms for each in executions),
        _known(sum, (each.executor_run_ms for each in metrics)),
        _known(sum, (each.bytes_scanned for each in executions)),
        _known(sum, (each.bytes_written for each in executions)),
        _known(sum, (each.shuffle_bytes for each in metrics)),
        _known(sum, (each.spill_bytes for each in metrics)),
        _known(max, (each.peak_memory_bytes for each in metrics)),
        _known(sum, (each.rows_affected for each in executions)),
        _known(fsum, (each.cost_usd for each in executions)),
    )


def build_of(execution: ModelExecution, builds: Builds) -> ModelExecution | None:
    """The build that a reused model stands on; None for others, and when it is not recorded."""
    if execution.reused_from is None:
        return None
    return builds.get((execution.reused_from, execution.model_name.lower()))


def saving_of(executions: Sequence[ModelExecution], builds: Builds) -> Saving | None:
    """What reuse spared; None when nothing was reused."""
    reused = [each for each in executions if each.reused_from is not None]
    if not reused:
        return None
    found = [build_of(each, builds) for each in reused]
    known = [each for each in found if each is not None]
    used = usage_of(known)
    return Saving(
        len(reused),
        len(reused) - len(known),
        used.duration_ms if known else None,
        used.core_ms,
        used.cost_usd,
    )


def _known(combine: Callable[[list[Any]], Any], values: Iterable[Any]) -> Any:
    found = [each for each in values if each is not None]
    return combine(found) if found else None
