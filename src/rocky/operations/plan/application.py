"""A plan that is applied: what each of its runs may rely on when it is its turn.

What the plan's own earlier runs have written is no longer as the plan found it, and is not held
against the later ones.
"""

from typing import Any

from rocky.plan.kept_plan import AppliedPlan, KeptPlan, PlanDocument
from rocky.run.outcomes import RunResult


class PlanApplication:
    """The runs of one plan, as they are carried out one after the other."""

    def __init__(self, plan: KeptPlan) -> None:
        self._plan_id = plan.plan_id
        self._expects: dict[str | None, PlanDocument | None] = {
            run.get("pipeline"): run.get("relies_on") for run in _runs(plan)
        }
        self._written: set[str] = set()

    def for_run(self, pipeline: str | None) -> AppliedPlan:
        """What the run of a pipeline holds to; None stands for models that were selected."""
        expects = self._expects.get(pipeline)
        return AppliedPlan(self._plan_id, expects, frozenset(self._written))

    def note(self, report: RunResult) -> None:
        """Remember what a run has written."""
        self._written |= {
            each.execution.target
            for each in report.outcomes
            if each.execution.target is not None and each.execution.commits
        }


def _runs(plan: KeptPlan) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = plan.payload["runs"]
    return found
