"""What a run used and cost, by model or by tag, as it was recorded then, with the prices of then.

Core time is summed over Spark's tasks, so models that ran side by side can be added up; their
durations cannot. None is "nobody measured it", which is not zero. What a reused model spared is
what its build took in the run that built it: what it would take today nobody knows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import fsum
from typing import Any, Final, Literal

from rocky.errors import InvalidRequest, NothingSelected
from rocky.ledger import LATEST
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    BudgetBreach,
    CostRate,
    MetricsRecord,
    ModelExecution,
    ModelStatus,
    RunRecord,
    RunStatus,
)
from rocky.operations.digest import Digest, Digested
from rocky.operations.records.history import run_duration_ms
from rocky.operations.records.run_lookup import locate_run
from rocky.operations.report import flat, hidden, same_fields
from rocky.operations.workspace import Workspace, known_branch, open_history
from rocky.plan.arguments import Request

UNATTRIBUTED: Final = "<unattributed>"
"""The key of the group of models without a tag."""

Builds = Mapping[tuple[RunId, str], ModelExecution]
"""The executions that reused models stand on, by run and model name in lower case."""


@dataclass(frozen=True, slots=True)
class CostRequest(Request):
    """Which run, by its id or the `latest`, and a line for what: `model`, `tag` or `tag:NAME`."""

    run: str = LATEST
    by: str = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one model, or several together, used."""

    total_cost_usd: float | None = None
    total_duration_ms: int
    total_core_ms: int | None = None
    total_bytes_scanned: int | None = None
    total_bytes_written: int | None = None
    total_shuffle_bytes: int | None = None
    total_spill_bytes: int | None = None
    total_rows_affected: int | None = None
    peak_memory_bytes: int | None = hidden()


@dataclass(frozen=True, slots=True)
class Saving:
    """What reused models did not take. `unknown_count` are those whose build is not recorded."""

    model_count: int
    unknown_count: int
    duration_ms: int | None = None
    core_ms: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """What one model used and cost."""

    execution: ModelExecution = hidden()
    usage: Usage = hidden()
    model_name: str
    status: ModelStatus
    duration_ms: int
    rows_affected: int | None = None
    bytes_scanned: int | None = None
    bytes_written: int | None = None
    metrics: MetricsRecord | None = None
    cost_usd: float | None = None
    cost_rate: CostRate | None = None
    decision: str | None = None
    reused_from: RunId | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    saved: Saving | None = None


@dataclass(frozen=True, slots=True)
class CostGroup:
    """The models of a tag's value together."""

    dimension: str
    key: str
    model_count: int
    usage: Usage = flat()
    saved: Saving | None = None


@dataclass(frozen=True, slots=True)
class Grouping:
    """A run's models by tag. With several tags a model stands in several groups."""

    models_in_several_groups: int
    groups: tuple[CostGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CostReport(Digested):
    """What a run used and cost: in all, by model (the most expensive first) and by tag."""

    run: RunRecord = hidden()
    run_id: RunId
    status: RunStatus
    died: bool
    trigger: str
    started_at: datetime
    finished_at: datetime | None = None
    duration_ms: int | None = None
    adapter_type: Literal["spark"]
    usage: Usage = flat()
    saved: Saving | None = None
    rates: tuple[CostRate, ...]
    per_model: tuple[ModelCost, ...]
    budget_breaches: tuple[BudgetBreach, ...] = ()
    grouping: Grouping | None = flat()

    def digest(self) -> Digest:
        used = self.usage
        title = f"{self.run_id} cost {_money(used.total_cost_usd)}, {_core_seconds(used)}"
        if self.grouping is not None:
            groups = self.grouping.groups
            rows = [(f"{each.dimension}={each.key}", *_figures(each.usage)) for each in groups]
            return Digest(title, ("tag", *_FIGURES), rows, len(rows))
        rows = [(each.model_name, *_figures(each.usage)) for each in self.per_model]
        return Digest(title, ("model", *_FIGURES), rows, len(rows))


_FIGURES: Final = ("USD", "core seconds", "rows")


def _figures(used: Usage) -> tuple[str, str, object]:
    return _money(used.total_cost_usd), _core_seconds(used), used.total_rows_affected


def _money(amount: float | None) -> str:
    return "an unknown price" if amount is None else f"{amount:.6f} USD"


def _core_seconds(used: Usage) -> str:
    return "unknown" if used.total_core_ms is None else f"{used.total_core_ms / 1000:.1f} core s"


def cost(workspace: Workspace, request: CostRequest) -> CostReport:
    """What a run cost. Raises NothingSelected for a run or a tag that is not recorded."""
    kind, _, tag = request.by.partition(":")
    if request.by not in ("model", "tag") and not (kind == "tag" and tag):
        raise InvalidRequest(f"`--by` is `model`, `tag` or `tag:NAME`, not `{request.by}`")
    workspace, run = locate_run(known_branch(workspace), request.run)
    executions = run.models_executed
    if tag and not any(tag in each.tags for each in executions):
        raise NothingSelected(f"no model of run `{run.run_id}` had a tag `{tag}`")
    builds = _find_builds(workspace, run)
    rates = (each.cost_rate for each in executions if each.cost_rate is not None)
    return CostReport(
        run=run,
        run_id=run.run_id,
        status=run.status,
        died=run.died,
        trigger=run.trigger,
        started_at=run.started_at,
        finished_at=run.finished_at,
        duration_ms=run_duration_ms(run),
        adapter_type="spark",
        usage=_usage_of(executions),
        saved=_saving_of(executions, builds),
        rates=tuple(dict.fromkeys(rates)),
        per_model=tuple(_model_cost(each, builds) for each in sorted(executions, key=_weight)),
        budget_breaches=run.budget_breaches,
        grouping=_group(executions, request.by, tag or None, builds) if kind == "tag" else None,
    )


def _find_builds(workspace: Workspace, run: RunRecord) -> Builds:
    """What the run's reused models were built by, as far as that is still recorded."""
    wanted = {
        (each.reused_from, each.model_name.lower())
        for each in run.models_executed
        if each.reused_from is not None
    }
    if not wanted:
        return {}
    with open_history(workspace) as reader:
        origins = {run_id for run_id, _ in wanted}
        found = [reader.run(each) for each in origins] if reader is not None else []
    return {
        (each.run_id, execution.model_name.lower()): execution
        for each in found
        if each is not None
        for execution in each.models_executed
        if (each.run_id, execution.model_name.lower()) in wanted
    }


def _weight(execution: ModelExecution) -> tuple[float, int, int, str]:
    """Dearest first; without a price, by core time."""
    core = execution.metrics.executor_run_ms if execution.metrics is not None else None
    price = execution.cost_usd or 0.0
    return (-price, -(core or 0), -execution.duration_ms, execution.model_name)


def _model_cost(execution: ModelExecution, builds: Builds) -> ModelCost:
    return ModelCost(
        execution=execution,
        usage=_usage_of([execution]),
        saved=_saving_of([execution], builds),
        **same_fields(ModelCost, execution, besides={"execution", "usage", "saved"}),
    )


def _group(
    executions: Sequence[ModelExecution], dimension: str, tag: str | None, builds: Builds
) -> Grouping:
    """Models by `name=value` of each of their tags, or by the value of one tag."""
    groups: dict[str, list[ModelExecution]] = {}
    for each in executions:
        for key in _keys_of(each, tag) or [UNATTRIBUTED]:
            groups.setdefault(key, []).append(each)
    standing = Counter(each.model_name for group in groups.values() for each in group)
    ordered = sorted(groups.items(), key=lambda item: (item[0] == UNATTRIBUTED, item[0]))
    return Grouping(
        sum(count > 1 for count in standing.values()),
        tuple(
            CostGroup(dimension, key, len(mine), _usage_of(mine), _saving_of(mine, builds))
            for key, mine in ordered
        ),
    )


def _keys_of(execution: ModelExecution, tag: str | None) -> list[str]:
    if tag is None:
        return [f"{name}={value}" for name, value in sorted(execution.tags.items())]
    return [execution.tags[tag]] if tag in execution.tags else []


def _usage_of(executions: Sequence[ModelExecution]) -> Usage:
    """Sums, and the highest peak."""
    metrics = [each.metrics for each in executions if each.metrics is not None]
    return Usage(
        total_cost_usd=_known(fsum, (each.cost_usd for each in executions)),
        total_duration_ms=sum(each.duration_ms for each in executions),
        total_core_ms=_known(sum, (each.executor_run_ms for each in metrics)),
        total_bytes_scanned=_known(sum, (each.bytes_scanned for each in executions)),
        total_bytes_written=_known(sum, (each.bytes_written for each in executions)),
        total_shuffle_bytes=_known(sum, (each.shuffle_bytes for each in metrics)),
        total_spill_bytes=_known(sum, (each.spill_bytes for each in metrics)),
        total_rows_affected=_known(sum, (each.rows_affected for each in executions)),
        peak_memory_bytes=_known(max, (each.peak_memory_bytes for each in metrics)),
    )


def _saving_of(executions: Sequence[ModelExecution], builds: Builds) -> Saving | None:
    """What reuse spared; None when nothing was reused."""
    reused = [each for each in executions if each.reused_from is not None]
    if not reused:
        return None
    found = (
        builds.get((each.reused_from, each.model_name.lower()))
        for each in reused
        if each.reused_from is not None
    )
    known = [each for each in found if each is not None]
    used = _usage_of(known)
    return Saving(
        len(reused),
        len(reused) - len(known),
        used.total_duration_ms if known else None,
        used.total_core_ms,
        used.total_cost_usd,
    )


def _known(combine: Callable[[list[Any]], Any], values: Iterable[Any]) -> Any:
    found = [each for each in values if each is not None]
    return combine(found) if found else None
