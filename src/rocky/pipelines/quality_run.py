"""A quality pipeline run: its tables pinned, bad rows put aside, and all of it recorded."""

from dataclasses import replace

from rocky.pipelines.generated import plan_generated
from rocky.pipelines.quality import QualityGround, plan_quality
from rocky.pipelines.report import PipelineReport
from rocky.project.pipelines import QualityPipeline
from rocky.run.opened import OpenedRun
from rocky.run.request import PARALLEL, RunRequest
from rocky.run.runner import run_plan
from rocky.run.surroundings import RunOptions
from rocky.run.unheeded import refuse_unheeded


def run_quality(
    opened: OpenedRun, name: str, pipeline: QualityPipeline, request: RunRequest
) -> PipelineReport:
    """Check the tables of a pipeline. Raises NothingSelected, RunRefused, and as `run_plan`."""
    refuse_unheeded(name, pipeline, request)
    around = opened.surroundings
    ground = QualityGround(opened.project, around.warehouse, around.ledger.path, around.clock())
    plan = plan_quality(name, pipeline, ground)
    report = run_plan(
        plan_generated(opened.project, name, plan.models),
        replace(around, build_table=plan.build_table or around.build_table),
        RunOptions(
            parallel=request.parallel or PARALLEL,
            rebuild=request.rebuild,
            reuse=request.reuse,
            notes=replace(plan.notes, idempotency_key=request.idempotency_key),
        ),
        listener=opened.means.listener,
        stop=opened.stop,
    )
    return PipelineReport("quality", report, checks=plan.checks.result)
