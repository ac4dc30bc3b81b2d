"""A run of a project's own models: everything opened, the plan carried out, leftovers removed.

Leftovers are files of an unfinished run that no version refers to. They go an hour after they were
written, when no writer can still want them.
"""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from typing import Final

from rocky.errors import ClaimLost, ConcurrentChange, LedgerLocked, StateSyncFailed
from rocky.ledger.writer import Ledger
from rocky.plan.adapters import choose_adapter
from rocky.plan.intervals import windows_of
from rocky.plan.refusals import refuse_errors
from rocky.plan.request import PARALLEL, RunRequest
from rocky.plan.steps import RunPlan
from rocky.run.execute.runner import run_plan
from rocky.run.execute.unchanged_run import run_unchanged
from rocky.run.outcomes import Listener, PipelineContribution, RunResult, note_unsent
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.claims import tables_of
from rocky.run.prepare.resources import RunParameters, RunResources
from rocky.run.prepare.session import RunSession, open_run
from rocky.run.reuse.project_memory import ProjectGlance, find_unchanged
from rocky.store.file_usage import sweep_table
from rocky.store.warehouse import Warehouse

LEFTOVER_AGE: Final = timedelta(hours=1)


def sweep_leftovers(plan: RunPlan, report: RunResult, warehouse: Warehouse, ledger: Ledger) -> int:
    """Remove what an unfinished run left behind in the tables this one built; how many files.

    A table that another run has begun to write meanwhile is left for later.
    """
    if report.resumed_from is None:
        return 0
    before = round((report.started_at - LEFTOVER_AGE).timestamp() * 1000)
    swept = 0
    for each in report.outcomes:
        if not each.succeeded or each.step.kind != "build":
            continue
        table = warehouse.table(plan.project.models[each.step.key].target)
        try:
            with ledger.claim([table.name], "rocky run") as claim:
                swept += len(sweep_table(table, before, claim.check))
        except (LedgerLocked, ClaimLost):
            continue
    return swept


def run_request(plan: RunPlan, request: RunRequest, caller: Caller) -> RunResult:
    """Carry out a request. Raises as `run_plan` does.

    Of a run that was made and whose state could not be sent there is a report, which says so.
    """
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    report: RunResult | None = None
    try:
        written = None if request.start_anew else partial(tables_of, plan)
        with open_run(project, adapter, caller, request.idempotency_key, written) as opened:
            report = _run_opened(opened, plan, request)
            opened.key.succeeded = report.exit_code == 0
    except StateSyncFailed as failure:
        if report is None:
            raise
        return note_unsent(report, failure)
    return report


def _run_opened(opened: RunSession, plan: RunPlan, request: RunRequest) -> RunResult:
    resources = opened.resources
    options = RunParameters(
        request.parallel or PARALLEL,
        request.builds_whole,
        request.rebuild,
        request.reuse,
        (*request.select, *(f"!{each}" for each in request.exclude)),
        windows_of(
            plan, request.window, resources.ledger, datetime.now(UTC), resources.warehouse.holds
        ),
        PipelineContribution(request.pipeline, idempotency_key=request.idempotency_key),
        test=request.test,
        start_anew=request.start_anew,
        force=request.force,
    )
    report = run_unless_unchanged(
        plan, resources, options, listener=opened.caller.listener, stop=opened.stop
    )
    sweep_leftovers(plan, report, resources.warehouse, resources.ledger)
    return replace(report, stop_asked=opened.stop.is_set())


def run_unless_unchanged(
    plan: RunPlan,
    resources: RunResources,
    options: RunParameters,
    *,
    listener: Listener | None = None,
    stop: Event | None = None,
    settled_ns: int | None = None,
) -> RunResult:
    """Carry out a plan, or record that there is nothing to be done. Raises as `run_plan` does.

    `settled_ns` is when the run began, for the files that it may remember.
    """
    refuse_errors(plan)
    unchanged = find_unchanged(plan, resources, options)
    if unchanged is not None:
        # What changes meanwhile is seen once the tables are claimed.
        with suppress(ConcurrentChange):
            return run_unchanged(plan, resources, options, unchanged, listener=listener)
    glance = ProjectGlance(plan, resources, options, settled_ns)
    report = run_plan(plan, resources, options, listener=listener, stop=stop)
    glance.remember(report)
    return report
