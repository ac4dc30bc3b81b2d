"""Cost: USD from what Spark's tasks used, at the rates of `[cost]`.

Task time is summed over tasks, so two models that run side by side never pay for the same second
twice. The rates are kept with the result: history does not change when a price does.
"""

from collections.abc import Iterable
from typing import Final

from rocky.ledger.records import CostRate, MetricsRecord
from rocky.project.blocks import Cost
from rocky.spark.layout import Metrics

_MS_PER_HOUR: Final = 3_600_000
_BYTES_PER_TB: Final = 10**12


def rate_of(settings: Cost) -> CostRate | None:
    """The rates that are set; None when nothing has a price."""
    rate = CostRate(settings.compute_cost_per_core_hour, settings.scan_cost_per_tb)
    return None if rate == CostRate() else rate


def cost_of(metrics: Metrics, rate: CostRate | None) -> float | None:
    """What the tasks cost. None when nothing has a price, or what has one was not measured."""
    if rate is None:
        return None
    cost = 0.0
    if rate.per_core_hour is not None:
        if metrics.executor_run_ms is None:
            return None
        cost += metrics.executor_run_ms / _MS_PER_HOUR * rate.per_core_hour
    if rate.per_tb_read is not None:
        if metrics.bytes_read is None:
            return None
        cost += metrics.bytes_read / _BYTES_PER_TB * rate.per_tb_read
    return cost


def total(values: Iterable[float | None]) -> float | None:
    """The sum of what is known; None when nothing is."""
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def total_count(values: Iterable[int | None]) -> int | None:
    """The sum of the counts that are known; None when none is."""
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def record_metrics(metrics: Metrics) -> MetricsRecord:
    """What Spark measured, as the ledger keeps it."""
    return MetricsRecord(
        metrics.executor_run_ms,
        metrics.executor_cpu_ms,
        metrics.shuffle_bytes,
        metrics.spill_bytes,
        metrics.peak_memory_bytes,
        metrics.tasks,
        metrics.rows_read,
    )
