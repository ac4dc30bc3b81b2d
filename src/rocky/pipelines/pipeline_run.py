"""A pipeline run, whatever its type: replication, load, snapshot or quality. The way in."""

from dataclasses import replace
from functools import partial

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure
from rocky.analysis.masks.copies import CopiedTables
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected, RunRefused, StateSyncFailed
from rocky.pipelines.loads.load_run import run_load
from rocky.pipelines.quality import run_quality
from rocky.pipelines.replication.replication_run import run_replication
from rocky.pipelines.report import PipelineResult
from rocky.pipelines.snapshot import run_snapshot
from rocky.plan.adapters import pipeline_adapter
from rocky.plan.request import RunRequest
from rocky.project import Project
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
)
from rocky.run.outcomes import note_unsent
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.lost_state import tables_of_pipeline
from rocky.run.prepare.session import RunSession, open_run


def run_pipeline(
    compilation: Compilation, name: str, request: RunRequest, caller: Caller
) -> PipelineResult:
    """Run one pipeline. Raises NothingSelected, RunRefused, and what opening a run raises.

    Of a run that was made and whose state could not be sent there is a report, which says so.
    """
    project = compilation.project
    pipeline = pipeline_named(project, name)
    adapter = pipeline_adapter(project, pipeline, request.adapter)
    report: PipelineResult | None = None
    try:
        written = None if request.start_anew else partial(tables_of_pipeline, pipeline=name)
        with open_run(project, adapter, caller, request.idempotency_key, written) as opened:
            report = run_open_pipeline(opened, compilation, name, pipeline, request)
            opened.key.succeeded = report.run.exit_code == 0
    except StateSyncFailed as failure:
        if report is None:
            raise
        return replace(report, run=note_unsent(report.run, failure))
    return report


def run_open_pipeline(
    opened: RunSession, compilation: Compilation, name: str, pipeline: Pipeline, request: RunRequest
) -> PipelineResult:
    """Run a pipeline where everything is open."""
    resources = replace(opened.resources, disclosure=Disclosure(compilation))
    opened = replace(opened, resources=resources)
    match pipeline:
        case ReplicationPipeline():
            return run_replication(opened, compilation, name, pipeline, request)
        case QualityPipeline():
            return run_quality(opened, CopiedTables(compilation), name, pipeline, request)
        case LoadPipeline():
            return run_load(opened, CopiedTables(compilation), name, pipeline, request)
        case SnapshotPipeline():
            return run_snapshot(opened, CopiedTables(compilation), name, pipeline, request)
        case _:
            raise RunRefused(f"pipeline `{name}` is a set of models: select models to run them")


def pipeline_named(project: Project, name: str) -> Pipeline:
    """The pipeline of a name. Raises NothingSelected."""
    found = project.config.pipeline.get(name)
    if found is None:
        hint = suggestion(name, project.config.pipeline) or "see `[pipeline]` in rocky.toml"
        raise NothingSelected(f"no pipeline `{name}`; {hint}")
    return found
