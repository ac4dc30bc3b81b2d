"""The journal of a run: what ended is in the ledger before anybody is told; then it is summed."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ModelExecution,
    ModelStatus,
    ProgressStatus,
    RunStatus,
    TableProgress,
    TotalsRecord,
)
from rocky.ledger.writer import Ledger, ModelRecords, PipelineRecords
from rocky.plan.budget import (
    BudgetVerdict,
    Usage,
    check_budgets,
    inherit_action,
    rate_of,
    total,
    total_count,
)
from rocky.plan.steps import RunPlan
from rocky.run.outcomes import (
    NO_CONCLUSION,
    NO_CONTRIBUTION,
    Conclusion,
    Listener,
    PipelineContribution,
    RunResult,
    SerialListener,
    StepOutcome,
    WithoutProgress,
    status_of,
)
from rocky.run.prepare.resources import RunClock
from rocky.run.record.provenance import StepRecord
from rocky.run.run_log import RunLog

_PROGRESS: Final = {
    ModelStatus.SUCCESS: ProgressStatus.SUCCESS,
    ModelStatus.REUSED: ProgressStatus.SUCCESS,
    ModelStatus.FAILED: ProgressStatus.FAILED,
    ModelStatus.INTERRUPTED: ProgressStatus.INTERRUPTED,
}


class Journal:
    """Writes down how steps ended and tells whoever listens. Threads may share it."""

    def __init__(
        self, plan: RunPlan, run_id: RunId, ledger: Ledger, listener: Listener, log: RunLog
    ) -> None:
        self._order = [step.id for step in plan.all_steps]
        self._places = {step: place for place, step in enumerate(self._order)}
        self._run_id = run_id
        self._ledger = ledger
        self._listener = SerialListener(listener)
        self.log = log
        self._outcomes: dict[str, StepOutcome] = {}
        self._lock = Lock()
        self.shows_progress = not isinstance(listener, WithoutProgress)

    @property
    def outcomes(self) -> tuple[StepOutcome, ...]:
        """What ended, in the plan's order."""
        return tuple(self._outcomes[each] for each in self._order if each in self._outcomes)

    def outcome_of(self, step_id: str) -> StepOutcome:
        return self._outcomes[step_id]

    def tell(self, say: Callable[[Listener], None]) -> None:
        self._listener.tell(say)

    def record(self, record: StepRecord) -> None:
        """One step ended."""
        self.record_all([record])

    def record_all(self, records: Sequence[StepRecord]) -> None:
        """Several steps ended at once: one transaction."""
        kept = [each for each in records if each.outcome.is_told]
        if kept:
            places = self._places
            self._ledger.record_models(
                self._run_id, [_of_ledger(each, places[each.outcome.step.id]) for each in kept]
            )
        with self._lock:
            for each in kept:
                self._outcomes[each.outcome.step.id] = each.outcome
        for each in records:
            self._tell_finished(each.outcome)

    def _tell_finished(self, outcome: StepOutcome) -> None:
        self._listener.tell(lambda each: each.finished(outcome))


def _of_ledger(record: StepRecord, index: int) -> ModelRecords:
    notes, execution = record.notes, record.outcome.execution
    progress = None
    if notes.asset_key:
        progress = TableProgress(
            index,
            record.outcome.step.key,
            notes.asset_key,
            _PROGRESS.get(execution.status, ProgressStatus.SKIPPED),
            execution.duration_ms,
            execution.finished_at,
            execution.error,
        )
    return ModelRecords(
        record.outcome.execution,
        record.artifacts,
        record.partitions,
        record.watermark,
        record.proof.provenance,
        record.proof.index,
        PipelineRecords(progress, notes.grace, notes.ended, notes.loaded),
    )


def report_run(
    plan: RunPlan,
    run_id: RunId,
    outcomes: Sequence[StepOutcome],
    times: RunClock,
    *,
    resumed_from: RunId | None = None,
    notes: PipelineContribution = NO_CONTRIBUTION,
    concluded: Conclusion = NO_CONCLUSION,
) -> RunResult:
    """All there is to say of a run whose steps have ended."""
    executions = [each.execution for each in outcomes]
    totals = _totals(executions, times.elapsed_ms, len(notes.failed))
    taken_over = any(each.decision == "resume" for each in executions)
    return RunResult(
        run_id,
        judge_status(status_of(outcomes), outcomes, notes, concluded),
        times.started_at,
        times.now(),
        tuple(outcomes),
        totals,
        rate_of(plan.project.config.cost),
        _judge(plan, outcomes, totals),
        notes.resumed_from or (resumed_from if taken_over else None),
        notes.pipeline,
        unchanged=notes.unchanged,
        failed_sources=notes.failed,
        check_outcomes=concluded.check_outcomes,
        anomalies=concluded.anomalies,
        tests=concluded.tests,
    )


def judge_status(
    status: RunStatus,
    outcomes: Sequence[StepOutcome],
    notes: PipelineContribution,
    concluded: Conclusion,
) -> RunStatus:
    """How a run did, given also what never became a step and what its checks found."""
    if status is RunStatus.INTERRUPTED or concluded.interrupted:
        return RunStatus.INTERRUPTED
    if not (notes.failed or concluded.failed):
        return status
    if concluded.failed and notes.checks_decide:
        return RunStatus.FAILURE
    some = bool(notes.unchanged) or any(each.succeeded for each in outcomes)
    return RunStatus.PARTIAL_FAILURE if some else RunStatus.FAILURE


def _totals(
    executions: Sequence[ModelExecution], elapsed_ms: int, never_begun: int
) -> TotalsRecord:
    """The sums; what failed before it became a step is `never_begun`, and has failed too."""
    core_ms = total_count(
        each.metrics.executor_run_ms for each in executions if each.metrics is not None
    )
    return TotalsRecord(
        elapsed_ms,
        len(executions),
        sum(each.status is ModelStatus.FAILED for each in executions) + never_begun,
        total_count(each.rows_affected for each in executions),
        total_count(each.bytes_scanned for each in executions),
        total_count(each.bytes_written for each in executions),
        core_ms,
        total(each.cost_usd for each in executions),
    )


def _judge(plan: RunPlan, outcomes: Sequence[StepOutcome], totals: TotalsRecord) -> BudgetVerdict:
    project = plan.project.config.budget
    usages = [Usage(project, None, totals.cost_usd, totals.duration_ms, totals.bytes_scanned)]
    for each in outcomes:
        execution = each.execution
        own = plan.project.models[each.step.key].settings.budget if _is_model(each) else None
        if own is not None and execution.status is ModelStatus.SUCCESS:
            usages.append(
                Usage(
                    inherit_action(own, project),
                    execution.model_name,
                    execution.cost_usd,
                    execution.duration_ms,
                    execution.bytes_scanned,
                )
            )
    return check_budgets(usages)


def _is_model(outcome: StepOutcome) -> bool:
    return outcome.step.kind != "seed"
