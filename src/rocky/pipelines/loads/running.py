"""A load pipeline run: files found, those that are new loaded, each table by itself."""

from dataclasses import replace

from rocky.pipelines.loads.contracts import load_contract
from rocky.pipelines.loads.files import UNKNOWN_FORMAT, Found, find_files
from rocky.pipelines.loads.ground import LoadGround
from rocky.pipelines.loads.history import load_history
from rocky.pipelines.loads.planning import plan_loads
from rocky.pipelines.owners import ask_owners
from rocky.pipelines.replication.running import find_done
from rocky.pipelines.report import PipelineReport
from rocky.pipelines.written_checks import checks_of_written
from rocky.project.pipelines import LoadPipeline
from rocky.run.notes import PipelineNotes
from rocky.run.opened import OpenedRun
from rocky.run.request import PARALLEL, RunRequest
from rocky.run.runner import run_plan
from rocky.run.surroundings import RunOptions
from rocky.run.throttle import Limits
from rocky.run.unheeded import refuse_unheeded


def run_load(
    opened: OpenedRun, name: str, pipeline: LoadPipeline, request: RunRequest
) -> PipelineReport:
    """Load the new files of a pipeline. Raises RunRefused, SourceUnreadable, and as `run_plan`."""
    refuse_unheeded(name, pipeline, request)
    around, project = opened.surroundings, opened.project
    with around.ledger.reader() as reader:
        resumed, done = find_done(reader, name, request.resume)
    found = find_files(pipeline, project.root, around.sources.checksums)
    contract = None
    if pipeline.contract is not None:
        contract = load_contract(project.root, pipeline.contract, name, opened.means.environment)
    with around.ledger.lookups() as lookups:
        history = load_history(around.ledger.path, lookups, found.tables)
        targets = {each.target.key: each.target for each in found.tables}
        owners = ask_owners(project, name, around.warehouse, lookups, targets.values())
    ground = LoadGround(
        name,
        pipeline,
        project,
        around.warehouse,
        around.sources,
        around.open_engine,
        around.clock(),
        contract,
        request.full_refresh,
        done,
        owners,
    )
    plan = plan_loads(ground, found, history)
    checks = checks_of_written(around, pipeline.checks, targets, "load")
    notes = PipelineNotes(
        name,
        {each.model.key: each.notes for each in plan.loads},
        tuple(each.target.full_name for each in plan.unchanged),
        resumed_from=resumed,
        idempotency_key=request.idempotency_key,
        conclude=checks if pipeline.checks.enabled else None,
    )
    execution = pipeline.execution
    concurrency = execution.concurrency if isinstance(execution.concurrency, int) else PARALLEL
    options = RunOptions(
        full_refresh=request.full_refresh,
        reuse=request.reuse,
        notes=notes,
        limits=Limits(
            request.parallel or concurrency,
            fail_fast=execution.fail_fast,
            abort_pct=execution.error_rate_abort_pct,
        ),
    )
    report = run_plan(plan.run, around, options, listener=opened.means.listener, stop=opened.stop)
    warned = replace(report, warnings=(*report.warnings, *_warnings(found)))
    return PipelineReport(
        "load", warned, plan.excluded, checks.result if pipeline.checks.enabled else None
    )


def _warnings(found: Found) -> list[str]:
    said = []
    unknown = [each.name for each in found.excluded if each.reason == UNKNOWN_FORMAT]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        said.append(
            f"not loaded, because the suffix does not tell the format: `{unknown[0]}`{more};"
            " `format` says it for all files"
        )
    if not found.tables:
        said.append("there is no file to load in the folder of this pipeline")
    return said
