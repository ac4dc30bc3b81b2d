"""A load run: files found, those that are new loaded, each table by itself."""

from dataclasses import replace

from rocky.pipelines.checks.evaluation import checks_of_targets
from rocky.pipelines.loads.files import UNKNOWN_FORMAT, FolderListing, find_files
from rocky.pipelines.loads.plan import load_contract, plan_loads
from rocky.pipelines.loads.selection import LoadContext, load_file_history
from rocky.pipelines.owners import load_owners
from rocky.pipelines.replication.replication_run import find_completed
from rocky.pipelines.report import PipelineResult
from rocky.plan.refusals import refuse_unsupported
from rocky.plan.request import PARALLEL, Limits, RunRequest
from rocky.project.configuration.pipelines import LoadPipeline
from rocky.run.execute.runner import run_plan
from rocky.run.outcomes import PipelineContribution
from rocky.run.prepare.resources import RunParameters
from rocky.run.prepare.session import RunSession


def run_load(
    opened: RunSession, name: str, pipeline: LoadPipeline, request: RunRequest
) -> PipelineResult:
    """Load the new files of a pipeline. Raises RunRefused, SourceUnreadable, and as `run_plan`."""
    refuse_unsupported(name, pipeline, request)
    resources, project = opened.resources, opened.project
    with resources.ledger.reader() as reader:
        resumed, done = find_completed(reader, name, request.resume)
    found = find_files(pipeline, project.root, resources.sources.checksums)
    contract = None
    if pipeline.contract is not None:
        contract = load_contract(project.root, pipeline.contract, name, opened.caller.environment)
    with resources.ledger.lookups() as lookups:
        history = load_file_history(resources.ledger.path, lookups, found.tables)
        targets = {each.target.key: each.target for each in found.tables}
        owners = load_owners(project, name, resources.warehouse, lookups, targets.values())
    ground = LoadContext(
        name,
        pipeline,
        project,
        resources.warehouse,
        resources.sources,
        resources.open_engine,
        resources.clock(),
        contract,
        request.full_refresh,
        done,
        owners,
    )
    plan = plan_loads(ground, found, history)
    checks = checks_of_targets(resources, pipeline.checks, targets, "load")
    notes = PipelineContribution(
        name,
        {each.model.key: each.notes for each in plan.loads},
        tuple(each.target.full_name for each in plan.unchanged),
        resumed_from=resumed,
        idempotency_key=request.idempotency_key,
        conclude=checks if pipeline.checks.enabled else None,
    )
    execution = pipeline.execution
    concurrency = execution.concurrency if isinstance(execution.concurrency, int) else PARALLEL
    options = RunParameters(
        full_refresh=request.full_refresh,
        reuse=request.reuse,
        notes=notes,
        limits=Limits(
            request.parallel or concurrency,
            fail_fast=execution.fail_fast,
            abort_pct=execution.error_rate_abort_pct,
        ),
    )
    report = run_plan(
        plan.run, resources, options, listener=opened.caller.listener, stop=opened.stop
    )
    warned = replace(report, warnings=(*report.warnings, *_warnings(found)))
    return PipelineResult(
        "load", warned, plan.excluded, checks.result if pipeline.checks.enabled else None
    )


def _warnings(found: FolderListing) -> list[str]:
    said = []
    unknown = [each.name for each in found.excluded if each.reason == UNKNOWN_FORMAT]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        said.append(
            "not loaded, because the file extension does not tell the format:"
            f" `{unknown[0]}`{more};"
            " set `format` for all files"
        )
    if not found.tables:
        said.append("there is no file to load in the folder of this pipeline")
    return said
