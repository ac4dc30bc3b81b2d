"""What a run used and cost, by model or by tag, as tables for people and as a JSON document.

Core time is summed over Spark's tasks, so models that ran side by side can be added up; their
durations cannot.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.history import describe_status, run_duration_ms
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import (
    format_bytes,
    format_count,
    format_duration,
    format_moment,
    format_seconds,
    format_usd,
)
from rocky.ledger.records import CostRate, ModelExecution, RunRecord

UNATTRIBUTED: Final = "<unattributed>"


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


def _known(combine: Callable[[list[Any]], Any], values: Iterable[Any]) -> Any:
    found = [each for each in values if each is not None]
    return combine(found) if found else None


def by_cost(executions: Iterable[ModelExecution]) -> list[ModelExecution]:
    """Dearest first; without a price, by core time."""

    def weight(each: ModelExecution) -> tuple[float, int, int, str]:
        core = each.metrics.executor_run_ms if each.metrics is not None else None
        return (-(each.cost_usd or 0.0), -(core or 0), -each.duration_ms, each.model_name)

    return sorted(executions, key=weight)


def group_by_tag(
    executions: Iterable[ModelExecution], tag: str | None
) -> dict[str, list[ModelExecution]]:
    """Models by `name=value` of each of their tags, or by the value of one tag.

    With several tags a model stands in several groups, so groups need not add up to the run.
    """
    groups: dict[str, list[ModelExecution]] = {}
    for each in executions:
        if tag is None:
            keys = [f"{name}={value}" for name, value in sorted(each.tags.items())]
        else:
            keys = [each.tags[tag]] if tag in each.tags else []
        for key in keys or [UNATTRIBUTED]:
            groups.setdefault(key, []).append(each)
    ordered = sorted(groups.items(), key=lambda item: (item[0] == UNATTRIBUTED, item[0]))
    return dict(ordered)


def cost_document(
    run: RunRecord, dimension: str, groups: dict[str, list[ModelExecution]] | None
) -> dict[str, Any]:
    """What `rocky cost -o json` prints."""
    total = usage_of(run.models_executed)
    whole = run.to_json()
    document: dict[str, Any] = {
        "run_id": run.run_id,
        "status": run.status.value,
        "died": run.died,
        "trigger": run.trigger,
        "started_at": whole["started_at"],
        "finished_at": whole.get("finished_at"),
        "duration_ms": run_duration_ms(run),
        "adapter_type": "spark",
        **_total_keys(total),
        "rates": [each.to_json() for each in rates_of(run.models_executed)],
        "per_model": [_model(each) for each in by_cost(run.models_executed)],
        "budget_breaches": whole.get("budget_breaches"),
    }
    if groups is not None:
        document["groups"] = [
            _without_none(
                {
                    "dimension": dimension,
                    "key": key,
                    "model_count": len(mine),
                    **_total_keys(usage_of(mine)),
                }
            )
            for key, mine in groups.items()
        ]
    return _without_none(document)


def _total_keys(usage: Usage) -> dict[str, Any]:
    return {
        "total_cost_usd": usage.cost_usd,
        "total_duration_ms": usage.duration_ms,
        "total_core_ms": usage.core_ms,
        "total_bytes_scanned": usage.bytes_scanned,
        "total_bytes_written": usage.bytes_written,
        "total_shuffle_bytes": usage.shuffle_bytes,
        "total_spill_bytes": usage.spill_bytes,
        "total_rows_affected": usage.rows_affected,
    }


def _model(execution: ModelExecution) -> dict[str, Any]:
    whole = execution.to_json()
    keys = (
        "model_name",
        "status",
        "duration_ms",
        "rows_affected",
        "bytes_scanned",
        "bytes_written",
        "metrics",
        "cost_usd",
        "cost_rate",
        "decision",
        "tags",
    )
    return {key: whole[key] for key in keys if key in whole}


def _without_none(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}


def rates_of(executions: Iterable[ModelExecution]) -> list[CostRate]:
    """The rates that were used, each once."""
    return list(dict.fromkeys(each.cost_rate for each in executions if each.cost_rate is not None))


_USAGE_HEAD: Final = (
    "TIME", "CORE S", "READ", "WRITTEN", "SHUFFLE", "SPILL", "PEAK", "ROWS", "USD",
)  # fmt: skip


def render_cost(run: RunRecord, groups: dict[str, list[ModelExecution]] | None) -> str:
    """The run, a line for each model or group, the total, and the rates."""
    if groups is None:
        head = ("MODEL", "STATUS", *_USAGE_HEAD)
        rows = [
            (each.model_name, each.status.value, *_cells(usage_of([each])))
            for each in by_cost(run.models_executed)
        ]
        # The run's own time: models that ran side by side share theirs.
        took = format_duration(run_duration_ms(run))
        rows.append(("total", "", took, *_cells(usage_of(run.models_executed))[1:]))
    else:
        head = ("TAG", "MODELS", *_USAGE_HEAD)
        rows = [
            (key, format_count(len(mine)), *_cells(usage_of(mine))) for key, mine in groups.items()
        ]
    right = set(range(2, len(head))) | ({1} if groups is not None else set())
    lines = [_describe_run(run), "", render_table(head, rows, right), "", describe_rates(run)]
    lines += [_describe_breach(each.to_json()) for each in run.budget_breaches]
    return "\n".join(lines)


def _describe_run(run: RunRecord) -> str:
    took = run_duration_ms(run)
    length = f", took {format_duration(took)}" if took is not None else ""
    return (
        f"{run.run_id}: {describe_status(run)},"
        f" {counted(len(run.models_executed), 'model')},"
        f" started {format_moment(run.started_at)} UTC{length}"
    )


def describe_rates(run: RunRecord) -> str:
    """The prices behind the amounts, or how to set one."""
    rates = rates_of(run.models_executed)
    if not rates:
        return "no price: set `compute_cost_per_core_hour` in `[cost]` of `rocky.toml`"
    return "\n".join(f"at {_describe_rate(each)}" for each in rates)


def _describe_rate(rate: CostRate) -> str:
    parts = []
    if rate.per_core_hour is not None:
        parts.append(f"{rate.per_core_hour:g} USD a core-hour")
    if rate.per_tb_read is not None:
        parts.append(f"{rate.per_tb_read:g} USD a TB read")
    return " and ".join(parts)


def _describe_breach(breach: dict[str, Any]) -> str:
    whose = f"`{breach['model_name']}`" if "model_name" in breach else "the run"
    return (
        f"over budget: {whose}: {breach['limit_type']} is {breach['limit']:g},"
        f" it was {breach['actual']:g}"
    )


def _cells(usage: Usage) -> tuple[str, ...]:
    return (
        format_duration(usage.duration_ms),
        format_seconds(usage.core_ms),
        format_bytes(usage.bytes_scanned),
        format_bytes(usage.bytes_written),
        format_bytes(usage.shuffle_bytes),
        format_bytes(usage.spill_bytes),
        format_bytes(usage.peak_memory_bytes),
        format_count(usage.rows_affected),
        format_usd(usage.cost_usd),
    )
