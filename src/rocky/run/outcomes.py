"""Outcomes: how each step of a run ended, and how the run did.

Values only: the ledger's records hold what happened, a report adds what people ask at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome
from rocky.ledger.record import RunId
from rocky.ledger.records import CostRate, ModelExecution, ModelStatus, RunStatus, TotalsRecord
from rocky.plan.steps import Step
from rocky.run.budget import BudgetVerdict
from rocky.run.build import BuiltPartition

_GOOD = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How one step ended. `blocked_by` names the failed models for which it was withheld."""

    step: Step
    execution: ModelExecution
    watermark: str | None = None
    partitions: tuple[BuiltPartition, ...] = ()
    blocked_by: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether readers may go on: built, reused, or found built by an earlier run."""
        skipped = self.execution.status is ModelStatus.SKIPPED and not self.blocked_by
        return self.execution.status in _GOOD or skipped


@dataclass(frozen=True, slots=True)
class RunReport:
    """All there is to say of a run when it has ended.

    `outcomes` are in the plan's order and hold what was selected, and whatever else failed.
    `warnings` are about the run as a whole. `unchanged` are tables of a pipeline that had nothing
    new, `failed_sources` those that could not even be looked at, with why.
    """

    run_id: RunId
    status: RunStatus
    started_at: datetime
    finished_at: datetime
    outcomes: tuple[StepOutcome, ...]
    totals: TotalsRecord
    rate: CostRate | None
    budget: BudgetVerdict
    resumed_from: RunId | None = None
    pipeline: str | None = None
    warnings: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    failed_sources: Mapping[str, str] = field(default_factory=dict)
    check_outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 nothing built or over budget, 2 some failed, 0 fine."""
        if self.status is RunStatus.INTERRUPTED:
            return 130
        if self.status is RunStatus.FAILURE or self.budget.fails:
            return 1
        return 2 if self.status is RunStatus.PARTIAL_FAILURE else 0


def status_of(outcomes: Sequence[StepOutcome]) -> RunStatus:
    """How a run with these outcomes did."""
    statuses = {each.execution.status for each in outcomes}
    if ModelStatus.INTERRUPTED in statuses:
        return RunStatus.INTERRUPTED
    if all(each.succeeded for each in outcomes):
        return RunStatus.SUCCESS
    some = any(each.succeeded for each in outcomes if each.step.selected)
    return RunStatus.PARTIAL_FAILURE if some else RunStatus.FAILURE
