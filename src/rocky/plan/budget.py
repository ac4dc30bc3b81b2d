"""Cost and budgets: USD from what Spark's tasks used, compared with limits before and after a run.

Task time is summed over tasks, so two models that run side by side never pay for the same second
twice. A limit that is reached exactly is not breached. What was not measured or estimated breaks no
limit, but is said: silence would read as "within budget".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rocky.diagnostics import Code
from rocky.ledger.run_records import BudgetBreach, CostRate, MetricsRecord
from rocky.plan.estimates import WHOLE_TABLE, Estimate, Estimates, Total, Unit
from rocky.project.configuration.blocks import Cost
from rocky.project.configuration.model import Budget
from rocky.spark.interface import Metrics

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


LIMITS: Final = ("max_usd", "max_duration_ms", "max_bytes_scanned")
"""The limits a budget may set, as settings and records call them."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run (`model` is None) or a model used. None: not measured."""

    budget: Budget
    model: str | None
    usd: float | None
    duration_ms: int | None
    bytes_scanned: int | None


@dataclass(frozen=True, slots=True)
class BudgetVerdict:
    """Limits that were exceeded, and those that could not be checked.

    `failing` are the exceeded ones that are set to be an error: each of them fails the run.
    """

    breaches: tuple[BudgetBreach, ...] = ()
    unchecked: tuple[str, ...] = ()
    failing: tuple[BudgetBreach, ...] = ()

    @property
    def fails(self) -> bool:
        return bool(self.failing)

    def severity_of(self, breach: BudgetBreach) -> str:
        return "error" if breach in self.failing else "warning"


def check_budgets(usages: Sequence[Usage]) -> BudgetVerdict:
    """Hold everything that was used against its limits."""
    breaches: list[BudgetBreach] = []
    failing: list[BudgetBreach] = []
    unchecked: list[str] = []
    for usage in usages:
        for limit_type, actual in _used(usage):
            limit = getattr(usage.budget, limit_type)
            if limit is None:
                continue
            if actual is None:
                unchecked.append(_unchecked(usage, limit_type))
            elif actual > limit:
                breach = BudgetBreach(limit_type, limit, actual, usage.model)
                breaches.append(breach)
                if usage.budget.on_breach == "error":
                    failing.append(breach)
    return BudgetVerdict(tuple(breaches), tuple(unchecked), tuple(failing))


def inherit_action(own: Budget, project: Budget) -> Budget:
    """A model's budget; what happens on a breach is the project's choice unless it makes one."""
    return own if own.on_breach is not None else own._replace(on_breach=project.on_breach)


def _used(usage: Usage) -> tuple[tuple[str, float | None], ...]:
    return tuple(zip(LIMITS, (usage.usd, usage.duration_ms, usage.bytes_scanned), strict=True))


def _unchecked(usage: Usage, limit_type: str) -> str:
    whose = f"of `{usage.model}`" if usage.model else "of the run"
    if limit_type == "max_usd":
        return (
            f"`{limit_type}` {whose} was not checked: set `compute_cost_per_core_hour` or "
            "`scan_cost_per_tb` in `[cost]`"
        )
    return f"`{limit_type}` {whose} was not checked: Spark did not say what was used"


_NO_PRICE: Final = "set `compute_cost_per_core_hour` or `scan_cost_per_tb` in `[cost]`"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFinding:
    """A limit that an estimate exceeds; the run's own where there is no `model`."""

    code: str
    severity: str
    model: str | None = None
    limit_type: str
    limit: float
    estimate: float
    from_runs: int | None = None
    message: str


@dataclass(frozen=True, slots=True)
class PlanBudget:
    """What the estimates of a run exceed, and what could not be estimated, in words."""

    findings: tuple[BudgetFinding, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        return any(each.severity == "error" for each in self.findings)


def check_estimates(project: Budget, units: Sequence[Unit], estimates: Estimates) -> PlanBudget:
    """Hold the estimates of a run and of its models against their limits."""
    findings: list[BudgetFinding] = []
    unchecked: list[str] = []
    sums = {
        "max_usd": estimates.cost_usd,
        "max_duration_ms": estimates.duration_ms,
        "max_bytes_scanned": estimates.bytes_scanned,
    }
    for limit_type in LIMITS:
        limit = getattr(project, limit_type)
        if limit is not None:
            _check_run(project, limit_type, limit, sums[limit_type], units, findings, unchecked)
    for unit in units:
        if unit.budget is not None:
            own = inherit_action(unit.budget, project)
            _check_model(own, unit, estimates.models.get(unit.name), findings, unchecked)
    return PlanBudget(tuple(findings), tuple(unchecked))


def _check_run(
    budget: Budget,
    limit_type: str,
    limit: float,
    total: Total,
    units: Sequence[Unit],
    findings: list[BudgetFinding],
    unchecked: list[str],
) -> None:
    if total.value is not None and total.value > limit:
        message = (
            f"the run is estimated to exceed `{limit_type}` = {limit:g}: {total.value:g} if all"
            " that may be built is built"
        )
        findings.append(_finding(budget, limit_type, total.value, message))
    elif total.without:
        more = f" and {len(total.without) - 1} more" if len(total.without) > 1 else ""
        how = "not estimated" if total.value is None else "estimated in part"
        lacking = next((each for each in units if each.name == total.without[0]), None)
        known = WHOLE_TABLE if lacking is None else lacking.extent
        why = _NO_PRICE if limit_type == "max_usd" else known.lacking
        unchecked.append(
            f"`{limit_type}` of the run was {how}: nothing is known of"
            f" `{total.without[0]}`{more}; {why}"
        )


def _check_model(
    budget: Budget,
    unit: Unit,
    estimate: Estimate | None,
    findings: list[BudgetFinding],
    unchecked: list[str],
) -> None:
    name = unit.name
    known = {
        "max_usd": estimate.cost_usd if estimate is not None else None,
        "max_duration_ms": estimate.duration_ms if estimate is not None else None,
        "max_bytes_scanned": estimate.bytes_scanned if estimate is not None else None,
    }
    for limit_type in LIMITS:
        limit, value = getattr(budget, limit_type), known[limit_type]
        if limit is None:
            continue
        if estimate is None:
            unchecked.append(f"`{limit_type}` of `{name}` was not estimated: {unit.extent.lacking}")
        elif value is None:
            why = _NO_PRICE if limit_type == "max_usd" else "Spark did not say what was used"
            unchecked.append(f"`{limit_type}` of `{name}` was not estimated: {why}")
        elif value > limit:
            runs = estimate.from_runs
            builds = "its last build" if runs == 1 else f"the mean of its last {runs} builds"
            message = (
                f"`{name}` is estimated to exceed `{limit_type}` = {limit:g}: {value:g}, {builds}"
            )
            findings.append(_finding(budget, limit_type, value, message, name, runs))


def _finding(
    budget: Budget,
    limit_type: str,
    estimate: float,
    message: str,
    model: str | None = None,
    from_runs: int | None = None,
) -> BudgetFinding:
    return BudgetFinding(
        code=Code.BUDGET_EXCEEDED.value,
        severity="error" if budget.on_breach == "error" else "warning",
        model=model,
        limit_type=limit_type,
        limit=getattr(budget, limit_type),
        estimate=estimate,
        from_runs=from_runs,
        message=message,
    )
