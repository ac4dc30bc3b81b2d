"""A replication pipeline run: planned, copied, checked, recorded.

One table's failure is its own: the others are copied and recorded, and the run ends as a partial
failure. Checks come after all copies and look at what the run has left.
"""

from dataclasses import replace
from typing import Final

from rocky.compiler.compilation import Compilation
from rocky.errors import NothingSelected
from rocky.ledger.reader import Reader
from rocky.ledger.record import RunId
from rocky.ledger.records import ModelExecution, ModelStatus
from rocky.pipelines.checks.concluding import PipelineChecks
from rocky.pipelines.replication.checking import CopiedTables
from rocky.pipelines.replication.planning import Replication, plan_replication
from rocky.pipelines.report import PipelineReport
from rocky.project.pipelines import ReplicationPipeline
from rocky.run.notes import PipelineNotes
from rocky.run.opened import OpenedRun
from rocky.run.request import LATEST, RunRequest
from rocky.run.runner import run_plan
from rocky.run.surroundings import RunOptions
from rocky.run.throttle import ADAPTIVE_MOST, Limits
from rocky.run.unheeded import refuse_unheeded

_LOCAL_MOST: Final = 8
"""A Spark on this machine has few cores: more tables at once only take turns."""


def open_replication(
    opened: OpenedRun, compilation: Compilation, name: str, pipeline: ReplicationPipeline
) -> Replication:
    """A pipeline where a run can begin."""
    around = opened.surroundings
    return Replication(
        name,
        pipeline,
        compilation,
        around.warehouse,
        around.open_engine,
        {**opened.means.environment, **opened.adapter.conf},
    )


def run_replication(
    opened: OpenedRun,
    compilation: Compilation,
    name: str,
    pipeline: ReplicationPipeline,
    request: RunRequest,
) -> PipelineReport:
    """Copy the tables of a pipeline that have something new.

    Raises RunRefused, NothingSelected, and as `run_plan` does.
    """
    refuse_unheeded(name, pipeline, request)
    replication = open_replication(opened, compilation, name, pipeline)
    around = opened.surroundings
    with around.ledger.reader() as reader:
        resumed, done = find_done(reader, name, request.resume)
    with around.ledger.lookups() as lookups:
        plan = plan_replication(replication, request, lookups, around.clock(), done=done)
    checks = PipelineChecks(
        pipeline.checks,
        CopiedTables(around, plan).find,
        around.warehouse,
        plan.routing.known,
        plan.routing.schemas,
    )
    notes = PipelineNotes(
        name,
        {each.model.key: each.notes for each in plan.copies},
        tuple(each.target.full_name for each in plan.unchanged),
        plan.failed,
        ", ".join(request.filters) or None,
        resumed,
        request.idempotency_key,
        checks if pipeline.checks.enabled else None,
    )
    options = RunOptions(
        full_refresh=request.full_refresh,
        rebuild=request.rebuild,
        reuse=request.reuse,
        selection=request.filters,
        notes=notes,
        limits=limits_of(opened, pipeline, request),
    )
    report = run_plan(plan.run, around, options, listener=opened.means.listener, stop=opened.stop)
    warned = replace(report, warnings=(*report.warnings, *plan.warnings))
    return PipelineReport("replication", warned, plan.excluded, checks.result)


def limits_of(opened: OpenedRun, pipeline: ReplicationPipeline, request: RunRequest) -> Limits:
    """How hard a run tries: as `[pipeline.X.execution]` says, unless the request does."""
    execution = pipeline.execution
    is_local = opened.adapter.remote is None and (opened.adapter.master or "local").startswith(
        "local"
    )
    return Limits(
        request.parallel or execution.concurrency,
        _LOCAL_MOST if is_local else ADAPTIVE_MOST,
        execution.fail_fast,
        execution.error_rate_abort_pct,
    )


def find_done(
    reader: Reader, pipeline: str, resume: str | None
) -> tuple[RunId | None, dict[str, str]]:
    """The run to resume and the tables it has copied, by key. Raises NothingSelected."""
    if resume is None:
        return None, {}
    if resume == LATEST:
        found = next((each for each in reader.runs() if each.pipeline == pipeline), None)
        if found is None:
            raise NothingSelected(f"no run of pipeline `{pipeline}` to resume")
        run = reader.run(found.run_id)
    else:
        run = reader.run(resume)
    if run is None:
        raise NothingSelected(f"no run `{resume}` to resume; `rocky history` lists them")
    if run.pipeline != pipeline:
        raise NothingSelected(
            f"run `{run.run_id}` was one of pipeline `{run.pipeline}`, not of `{pipeline}`"
        )
    why = f"copied_by_{run.run_id}"
    return run.run_id, {
        each.model_name.lower(): why for each in run.models_executed if _is_copied(each)
    }


def _is_copied(execution: ModelExecution) -> bool:
    return execution.status in (ModelStatus.SUCCESS, ModelStatus.REUSED)
