"""A run in which nothing has changed: recorded in one row, with the run that looked last.

It claims its tables and is anchored like any other, so who runs beside it is refused as ever. It
has no record of its own for each model: what it would say of them is what that other run says.
"""

from contextlib import ExitStack
from dataclasses import replace

from rocky.errors import ConcurrentChange, RockyError
from rocky.evidence.retention.sweep import sweep_if_due
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunStatus, unchanged_executions
from rocky.ledger.writer import RunFindings
from rocky.plan.steps import RunPlan
from rocky.run.outcomes import Listener, RunResult, SerialListener, SilentListener, StepOutcome
from rocky.run.prepare.claims import begin_run, leave_anchor, opening_record, targets_of
from rocky.run.prepare.lost_state import refuse_lost
from rocky.run.prepare.mask_changes import refuse_otherwise_masked
from rocky.run.prepare.pins import pin_inputs
from rocky.run.prepare.resources import RunClock, RunParameters, RunResources
from rocky.run.record.journal import report_run
from rocky.run.reuse.project_memory import UnchangedProject


def run_unchanged(
    plan: RunPlan,
    resources: RunResources,
    options: RunParameters,
    found: UnchangedProject,
    *,
    listener: Listener | None = None,
) -> RunResult:
    """Record that all is as it was. Raises as `run_plan` does before it claims the tables.

    ConcurrentChange when something has changed after all before they were claimed.
    """
    refuse_otherwise_masked(plan, pin_inputs(plan, resources.warehouse), resources.warehouse)
    times, ledger, warnings = RunClock.begin(resources.clock), resources.ledger, list[str]()
    opened = opening_record(plan, resources, options, times.started_at)
    record = replace(opened, unchanged_since=found.looked.run_id)
    # The tables are as the ledger knows them: nothing was recorded and no file changed since.
    refuse_lost(resources, ())
    tables = [resources.warehouse.table(each) for each in targets_of(plan)]
    with ExitStack() as held:
        begun = begin_run(resources, record, tables, held, newest_fence=found.looked.fence)
        run_id = begun.run_id
        try:
            if resources.on_begin is not None:
                resources.on_begin(run_id)
            found.check(ledger)
            anchored = leave_anchor(resources, run_id, warnings.append)
            report = _report(plan, run_id, options, found, times, listener or SilentListener())
        except BaseException as error:
            said = str(error) if isinstance(error, RockyError) else ""
            interrupted = isinstance(error, KeyboardInterrupt | ConcurrentChange)
            ledger.finish_run(
                run_id,
                RunStatus.INTERRUPTED if interrupted else RunStatus.FAILURE,
                times.now(),
                reason=said or type(error).__name__,
            )
            raise
        ledger.finish_run(
            run_id,
            report.status,
            report.finished_at,
            found=RunFindings(report.totals, report.budget.breaches),
            anchored=anchored,
        )
        retention = plan.project.config.state.retention
        sweep_if_due(ledger, [resources.warehouse], retention, times.now())
        leave_anchor(resources, run_id, warnings.append)
    return replace(report, warnings=tuple(dict.fromkeys(warnings)))


def _report(
    plan: RunPlan,
    run_id: RunId,
    options: RunParameters,
    found: UnchangedProject,
    times: RunClock,
    listener: Listener,
) -> RunResult:
    """The steps as the run that looked last found them, told to whoever listens."""
    tell = SerialListener(listener).tell
    executions = unchanged_executions(found.looked, times.now())
    by_name = {each.model_name.lower(): each for each in executions}
    steps = [step for step in plan.steps if step.name.lower() in by_name]
    outcomes = [StepOutcome(step, by_name[step.name.lower()]) for step in steps]
    tell(lambda each: each.queued(run_id, steps))
    for outcome in outcomes:
        tell(lambda each, outcome=outcome: each.finished(outcome))  # type: ignore[misc]
    report = report_run(plan, run_id, outcomes, times, notes=options.notes)
    return replace(report, unchanged_since=found.looked.run_id)
