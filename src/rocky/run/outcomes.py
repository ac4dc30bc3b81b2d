"""Outcomes: how each step of a run ended, and how the run did.

Values only: the ledger's records hold what happened, a report adds what people ask at the end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from rocky.errors import StateConflict, StateSyncFailed
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
    new, `failed_sources` those that could not even be looked at, with why. `state_error` says why
    the records are not where they are kept, of a run that is recorded here as its status says.
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
    state_error: str | None = None

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 nothing built, over budget or not sent, 2 some failed, 0 fine."""
        if self.status is RunStatus.INTERRUPTED:
            return 130
        if self.status is RunStatus.FAILURE or self.budget.fails or self.state_error is not None:
            return 1
        return 2 if self.status is RunStatus.PARTIAL_FAILURE else 0


def note_unsent(report: RunReport, failure: StateSyncFailed) -> RunReport:
    """The report of a run whose state could not be sent at its end."""
    stand = "the tables and records here stand, and the next run of this machine sends them"
    if isinstance(failure, StateConflict):
        # The failure itself says what becomes of the records.
        stand = "the tables here stand"
    return replace(report, state_error=f"{stand}: {failure}")


def status_of(outcomes: Sequence[StepOutcome]) -> RunStatus:
    """How a run with these outcomes did."""
    statuses = {each.execution.status for each in outcomes}
    if ModelStatus.INTERRUPTED in statuses:
        return RunStatus.INTERRUPTED
    if all(each.succeeded for each in outcomes):
        return RunStatus.SUCCESS
    some = any(each.succeeded for each in outcomes if each.step.selected)
    return RunStatus.PARTIAL_FAILURE if some else RunStatus.FAILURE
