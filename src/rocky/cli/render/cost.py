"""What a run used and cost, by model or by tag, as tables for people and as a JSON document.

Core time is summed over Spark's tasks, so models that ran side by side can be added up; their
durations cannot.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.fitting import Fitted, Room, render_fitted
from rocky.cli.render.history import describe_run, outcome_of
from rocky.cli.render.units import (
    format_bytes,
    format_count,
    format_duration,
    format_seconds,
    format_usd,
)
from rocky.cli.render.usage import Builds, Saving, Usage, saving_of, usage_of
from rocky.ledger.run_records import CostRate, ModelExecution, RunRecord
from rocky.operations.history import run_duration_ms

UNATTRIBUTED: Final = "<unattributed>"
"""The key, in documents, of the group of models without a tag."""
_NO_TAG: Final = "(no tag)"

Groups = Mapping[str, list[ModelExecution]]


@dataclass(frozen=True, slots=True)
class CostView:
    """What is shown: a run, its models by tag if so asked, and the builds that reuse spared."""

    run: RunRecord
    dimension: str = "model"
    groups: Groups | None = None
    builds: Builds = field(default_factory=dict)

    @property
    def counted_twice(self) -> int:
        """How many models stand in more than one group."""
        groups = (self.groups or {}).values()
        standing = Counter(each.model_name for group in groups for each in group)
        return sum(count > 1 for count in standing.values())


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
        for key in _keys_of(each, tag) or [UNATTRIBUTED]:
            groups.setdefault(key, []).append(each)
    ordered = sorted(groups.items(), key=lambda item: (item[0] == UNATTRIBUTED, item[0]))
    return dict(ordered)


def _keys_of(execution: ModelExecution, tag: str | None) -> list[str]:
    if tag is None:
        return [f"{name}={value}" for name, value in sorted(execution.tags.items())]
    return [execution.tags[tag]] if tag in execution.tags else []


def cost_document(view: CostView) -> dict[str, Any]:
    """What `rocky cost -o json` prints."""
    run = view.run
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
        **_total_keys(usage_of(run.models_executed)),
        "saved": _saved(saving_of(run.models_executed, view.builds)),
        "rates": [each.to_json() for each in rates_of(run.models_executed)],
        "per_model": [_model(each, view.builds) for each in by_cost(run.models_executed)],
        "budget_breaches": whole.get("budget_breaches"),
    }
    if view.groups is not None:
        document["models_in_several_groups"] = view.counted_twice
        document["groups"] = [
            _without_none(
                {
                    "dimension": view.dimension,
                    "key": key,
                    "model_count": len(mine),
                    **_total_keys(usage_of(mine)),
                    "saved": _saved(saving_of(mine, view.builds)),
                }
            )
            for key, mine in view.groups.items()
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


def _saved(saving: Saving | None) -> dict[str, Any] | None:
    if saving is None:
        return None
    return _without_none(
        {
            "model_count": saving.models,
            "unknown_count": saving.unknown,
            "duration_ms": saving.duration_ms,
            "core_ms": saving.core_ms,
            "cost_usd": saving.cost_usd,
        }
    )


def _model(execution: ModelExecution, builds: Builds) -> dict[str, Any]:
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
        "reused_from",
        "tags",
    )
    document = {key: whole[key] for key in keys if key in whole}
    saved = _saved(saving_of([execution], builds))
    if saved is not None:
        document["saved"] = saved
    return document


def _without_none(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}


def rates_of(executions: Iterable[ModelExecution]) -> list[CostRate]:
    """The rates that were used, each once."""
    return list(dict.fromkeys(each.cost_rate for each in executions if each.cost_rate is not None))


_USAGE_HEAD: Final = (
    "TIME", "CORE S", "READ", "WRITTEN", "SHUFFLE", "SPILL", "PEAK", "ROWS", "USD",
)  # fmt: skip
_EXPENDABLE: Final = ("PEAK", "SPILL", "SHUFFLE", "READ", "WRITTEN", "ROWS")


def render_cost(view: CostView, width: int | None) -> Fitted:
    """The run, a line for each model or group, the total, what reuse saved, and the rates."""
    run = view.run
    total = (run.models_executed, run_duration_ms(run))
    # The run's own time: models that ran side by side share theirs.
    if view.groups is None:
        head = ["MODEL", "OUTCOME", *_USAGE_HEAD]
        rows = [
            [each.model_name, outcome_of(each), *_cells(usage_of([each]))]
            for each in by_cost(run.models_executed)
        ]
        rows.append(["total", "", *_total_cells(*total)])
    else:
        head = ["TAG", "MODELS", *_USAGE_HEAD]
        rows = [
            [
                _NO_TAG if key == UNATTRIBUTED else key,
                format_count(len(mine)),
                *_cells(usage_of(mine)),
            ]
            for key, mine in view.groups.items()
        ]
        rows.append(["total", format_count(len(total[0])), *_total_cells(*total)])
    saved = _savings(view)
    if saved:
        head.append(saved[0])
        rows = [[*row, cell] for row, cell in zip(rows, saved[1:], strict=True)]
    right = set(range(1 if view.groups is not None else 2, len(head)))
    table = render_fitted(head, rows, right, Room(width, _EXPENDABLE))
    lines = [describe_run(run), "", table.text, "", *_remarks(view), describe_rates(run)]
    lines += [_describe_breach(each.to_json()) for each in run.budget_breaches]
    return Fitted("\n".join(lines), table.dropped)


def _savings(view: CostView) -> list[str]:
    """The last column, if anything was reused: amounts where there are prices, else core time."""
    models = view.run.models_executed
    parts = [[each] for each in by_cost(models)] if view.groups is None else view.groups.values()
    savings = [saving_of(each, view.builds) for each in (*parts, models)]
    total = savings[-1]
    if total is None:
        return []
    if total.cost_usd is None:
        return ["SAVED S", *(format_seconds(each.core_ms) if each else "" for each in savings)]
    return ["SAVED USD", *(format_usd(each.cost_usd) if each else "" for each in savings)]


def _remarks(view: CostView) -> list[str]:
    remarks = []
    if view.counted_twice:
        remarks.append(
            f"{counted(view.counted_twice, 'model')} with several tags"
            f" {'counts' if view.counted_twice == 1 else 'count'} under each of them,"
            " and once in the total"
        )
    saving = saving_of(view.run.models_executed, view.builds)
    if saving is not None:
        remarks.append(_describe_saving(saving))
    return remarks


def _describe_saving(saving: Saving) -> str:
    said = f"{counted(saving.models, 'model')} reused"
    amounts = []
    if saving.core_ms is not None:
        amounts.append(f"{format_seconds(saving.core_ms)} core seconds")
    if saving.cost_usd is not None:
        amounts.append(f"{format_usd(saving.cost_usd)} USD")
    if amounts:
        said += f": saved {' and '.join(amounts)}, which is what building took then"
    if saving.unknown:
        said += f"; {saving.unknown:,} built by a run that is not recorded here"
    return said


def describe_rates(run: RunRecord) -> str:
    """The prices behind the amounts, or how to set one."""
    rates = rates_of(run.models_executed)
    if not rates:
        if not any(outcome_of(each) in ("built", "failed") for each in run.models_executed):
            return "nothing was built, so nothing was priced"
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


def _total_cells(executions: tuple[ModelExecution, ...], took_ms: int | None) -> tuple[str, ...]:
    return (format_duration(took_ms), *_cells(usage_of(executions))[1:])
