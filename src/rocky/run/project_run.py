"""A run of a project's own models, put together: everything opened, the plan carried out."""

from datetime import UTC, datetime

from rocky.errors import StateSyncFailed
from rocky.plan.steps import RunPlan
from rocky.run.aftermath import sweep_after
from rocky.run.means import Means
from rocky.run.notes import PipelineNotes
from rocky.run.opened import OpenedRun, open_run
from rocky.run.outcomes import RunReport, note_unsent
from rocky.run.request import PARALLEL, RunRequest, choose_adapter
from rocky.run.runner import run_plan
from rocky.run.surroundings import RunOptions
from rocky.run.windows import windows_of


def run_request(plan: RunPlan, request: RunRequest, means: Means) -> RunReport:
    """Carry out a request. Raises as `run_plan` does.

    Of a run that was made and whose state could not be sent there is a report, which says so.
    """
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    report: RunReport | None = None
    try:
        with open_run(project, adapter, means, request.idempotency_key) as opened:
            report = _run_opened(opened, plan, request)
            opened.key.succeeded = report.exit_code == 0
    except StateSyncFailed as failure:
        if report is None:
            raise
        return note_unsent(report, failure)
    return report


def _run_opened(opened: OpenedRun, plan: RunPlan, request: RunRequest) -> RunReport:
    around = opened.surroundings
    options = RunOptions(
        request.parallel or PARALLEL,
        request.full_refresh,
        request.rebuild,
        request.reuse,
        (*request.select, *(f"!{each}" for each in request.exclude)),
        windows_of(plan, request.window, around.ledger, datetime.now(UTC)),
        PipelineNotes(request.pipeline, idempotency_key=request.idempotency_key),
    )
    report = run_plan(plan, around, options, listener=opened.means.listener, stop=opened.stop)
    sweep_after(plan, report, around.warehouse, around.ledger)
    return report
