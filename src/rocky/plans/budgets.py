"""Budgets of a plan: estimates held against ceilings, before anything is spent.

An estimate that could not be made breaks no ceiling, but is said: silence would read as "within
budget". A sum that was made without some models breaks a ceiling that it exceeds all the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.diagnostics import Code
from rocky.plans.estimates import Estimate, Estimates, Total, Unit
from rocky.plans.extents import ALWAYS
from rocky.project.settings import Budget
from rocky.run.budget import LIMITS, inherit_action

_NO_PRICE: Final = "set `compute_cost_per_core_hour` or `scan_cost_per_tb` in `[cost]`"


@dataclass(frozen=True, slots=True)
class BudgetFinding:
    """A ceiling that an estimate exceeds; `model` is None for the run's own."""

    limit_type: str
    limit: float
    estimate: float
    severity: str
    message: str
    model: str | None = None
    from_runs: int | None = None

    def document(self) -> dict[str, Any]:
        facts = {
            "code": Code.BUDGET_EXCEEDED.value,
            "severity": self.severity,
            "model": self.model,
            "limit_type": self.limit_type,
            "limit": self.limit,
            "estimate": self.estimate,
            "from_runs": self.from_runs,
            "message": self.message,
        }
        return {name: value for name, value in facts.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PlanBudget:
    """What the estimates of a run exceed, and what could not be estimated, in words."""

    findings: tuple[BudgetFinding, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        return any(each.severity == "error" for each in self.findings)


def check_estimates(project: Budget, units: Sequence[Unit], estimates: Estimates) -> PlanBudget:
    """Hold the estimates of a run and of its models against their ceilings."""
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
        findings.append(BudgetFinding(limit_type, limit, total.value, _severity(budget), message))
    elif total.without:
        more = f" and {len(total.without) - 1} more" if len(total.without) > 1 else ""
        how = "not estimated" if total.value is None else "estimated in part"
        lacking = next((each for each in units if each.name == total.without[0]), None)
        known = ALWAYS if lacking is None else lacking.extent
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
            findings.append(
                BudgetFinding(limit_type, limit, value, _severity(budget), message, name, runs)
            )


def _severity(budget: Budget) -> str:
    return "error" if budget.on_breach == "error" else "warning"
