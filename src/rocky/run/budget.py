"""Budgets: what a run or a model may use, held against what it used.

A ceiling that is reached exactly is kept. What was not measured breaks no ceiling, but is said:
silence would read as "within budget".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.ledger.records import BudgetBreach
from rocky.project.settings import Budget


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
    """Ceilings that were exceeded, and those that could not be checked.

    `fails` when one of the exceeded ceilings is set to be an error.
    """

    breaches: tuple[BudgetBreach, ...] = ()
    unchecked: tuple[str, ...] = ()
    fails: bool = False


def check_budgets(usages: Sequence[Usage]) -> BudgetVerdict:
    """Hold everything that was used against its ceilings."""
    breaches: list[BudgetBreach] = []
    unchecked: list[str] = []
    fails = False
    for usage in usages:
        for limit_type, limit, actual in _dimensions(usage):
            if limit is None:
                continue
            if actual is None:
                unchecked.append(_unchecked(usage, limit_type))
            elif actual > limit:
                breaches.append(BudgetBreach(limit_type, limit, actual, usage.model))
                fails = fails or usage.budget.on_breach == "error"
    return BudgetVerdict(tuple(breaches), tuple(unchecked), fails)


def inherit_action(own: Budget, project: Budget) -> Budget:
    """A model's budget; what happens on a breach is the project's choice unless it makes one."""
    return own if own.on_breach is not None else own._replace(on_breach=project.on_breach)


def _dimensions(usage: Usage) -> tuple[tuple[str, float | None, float | None], ...]:
    budget = usage.budget
    return (
        ("max_usd", budget.max_usd, usage.usd),
        ("max_duration_ms", budget.max_duration_ms, usage.duration_ms),
        ("max_bytes_scanned", budget.max_bytes_scanned, usage.bytes_scanned),
    )


def _unchecked(usage: Usage, limit_type: str) -> str:
    whose = f"of `{usage.model}`" if usage.model else "of the run"
    if limit_type == "max_usd":
        return (
            f"`{limit_type}` {whose} was not checked: set `compute_cost_per_core_hour` or "
            "`scan_cost_per_tb` in `[cost]`"
        )
    return f"`{limit_type}` {whose} was not checked: Spark did not say what was used"
