"""Budgets: what a run or a model may use, held against what it used.

A ceiling that is reached exactly is kept. What was not measured breaks no ceiling, but is said:
silence would read as "within budget".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocky.ledger.records import BudgetBreach
from rocky.project.settings import Budget

LIMITS: Final = ("max_usd", "max_duration_ms", "max_bytes_scanned")
"""The ceilings a budget may set, as settings and records call them."""


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
    """Hold everything that was used against its ceilings."""
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
