"""The report: the outcomes of a run added up, held against budgets, as one value."""

from collections.abc import Sequence

from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution, ModelStatus, RunStatus, TotalsRecord
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
    PipelineContribution,
    RunResult,
    StepOutcome,
    status_of,
)
from rocky.run.prepare.resources import RunClock


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
    )


def judge_status(
    status: RunStatus,
    outcomes: Sequence[StepOutcome],
    notes: PipelineContribution,
    concluded: Conclusion,
) -> RunStatus:
    """How a run did, given also what never became a step and what its checks found."""
    if status is RunStatus.INTERRUPTED or not (notes.failed or concluded.failed):
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
