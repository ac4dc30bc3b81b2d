"""A run of a project's own models, put together: everything opened, the plan carried out."""

from datetime import UTC, datetime

from rocky.plan.steps import RunPlan
from rocky.run.aftermath import sweep_after
from rocky.run.means import Means
from rocky.run.notes import PipelineNotes
from rocky.run.opened import open_run
from rocky.run.outcomes import RunReport
from rocky.run.request import PARALLEL, RunRequest, choose_adapter
from rocky.run.runner import run_plan
from rocky.run.surroundings import RunOptions
from rocky.run.windows import windows_of


def run_request(plan: RunPlan, request: RunRequest, means: Means) -> RunReport:
    """Carry out a request. Raises as `run_plan` does."""
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    with open_run(project, adapter, means, request.idempotency_key) as opened:
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
        report = run_plan(plan, around, options, listener=means.listener, stop=opened.stop)
        sweep_after(plan, report, around.warehouse, around.ledger)
        opened.key.succeeded = report.exit_code == 0
        return report
