"""`rocky plan`: what a run would do and why, without Spark and without a trace."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from rocky.cli.commands.run import RunCommand, refuse_errors
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.pipelines import is_of_models, pipelines_to_run
from rocky.cli.projects import compile_chosen
from rocky.cli.remote_state import refresh_state
from rocky.cli.render.plan import UNCERTAIN, plan_document, render_plan
from rocky.cli.render.prospects import prospects_document, render_prospects
from rocky.cli.state_files import state_path
from rocky.compiler.compilation import Compilation
from rocky.lazy import load_attribute
from rocky.plan.refusals import config_findings, refusing_findings
from rocky.project.pipelines import ReplicationPipeline
from rocky.run.circumstances import observe_circumstances
from rocky.run.means import Means
from rocky.run.outlook import foresee_request
from rocky.run.request import RunRequest, plan_request


@click.command("plan", cls=RunCommand)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option("--model", "models", multiple=True, metavar="SELECTOR", help="These models.")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="But not these.")
@click.option("--pipeline", metavar="NAME", help="The models of one pipeline.")
@click.option("--full-refresh", is_flag=True, help="As if whole tables were to be built.")
@click.option(
    "--force-rebuild",
    "--fresh",
    "force_rebuild",
    is_flag=True,
    help="As if nothing that an earlier run has built were to stand.",
)
@click.option("--no-reuse", is_flag=True, help="As if nothing were to be reused.")
@click.option("--target", metavar="ADAPTER", help="On `[adapter.ADAPTER]`.")
@click.option(
    "--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Tables of a pipeline."
)
@click.pass_obj
def command(
    settings: Settings,
    /,
    selectors: Sequence[str],
    models: Sequence[str],
    exclude: Sequence[str],
    pipeline: str | None,
    target: str | None,
    filters: Sequence[str],
    **asked: bool,
) -> ExitCode:
    """Show what `rocky run` would build, copy, reuse or leave, and why.

    Nothing is run or written. A model whose inputs will be built is decided when they are. For a
    pipeline that copies tables Spark is asked what columns its source has now.
    """
    request = RunRequest(
        (*selectors, *models),
        tuple(exclude),
        pipeline,
        full_refresh=asked["full_refresh"],
        rebuild=asked["force_rebuild"],
        reuse=not asked["no_reuse"],
        adapter=target,
        filters=tuple(filters),
    )
    compilation = compile_chosen(settings)
    refresh_state(settings, state_path(settings))
    documents = []
    for name in pipelines_to_run(compilation.project, request):
        if name is None or is_of_models(compilation.project.config.pipeline[name]):
            own = request if name is None else replace(request, pipeline=name)
            documents.append(_plan_models(settings, compilation, own))
        else:
            documents.append(_plan_pipeline(settings, compilation, name, request))
    if settings.json:
        several = {"pipelines": documents}
        write_json("plan", documents[0] if len(documents) == 1 else several)
    return ExitCode.OK


def _plan_pipeline(
    settings: Settings, compilation: Compilation, name: str, request: RunRequest
) -> dict[str, Any]:
    refuse_errors(settings, compilation, config_findings(compilation))
    pipeline = compilation.project.config.pipeline[name]
    if not isinstance(pipeline, ReplicationPipeline):
        write_note(f"note: pipeline `{name}` ({pipeline.type}) is decided when it runs")
        return {"pipeline": name, "tables": []}
    look = load_attribute("rocky.pipelines.replication.outlook", "look_at_replication")
    adapter_of = load_attribute("rocky.pipelines.pipeline_run", "adapter_of")
    adapter = adapter_of(compilation.project, pipeline, request.adapter)
    who = observe_circumstances(compilation.project.root, os.environ)
    means = Means(state_path(settings), who, os.environ)
    plan, prospects = look(compilation, name, pipeline, adapter, request, means)
    if not settings.json:
        write_line(f"pipeline {name}\n{render_prospects(plan, prospects)}")
    for warning in plan.warnings:
        write_note(f"warning: {warning}")
    return {"pipeline": name, **prospects_document(plan, prospects)}


def _plan_models(
    settings: Settings, compilation: Compilation, request: RunRequest
) -> dict[str, Any]:
    plan = plan_request(compilation, request)
    refuse_errors(settings, compilation, refusing_findings(plan))
    outlook = foresee_request(plan, request, state=state_path(settings), environment=os.environ)
    if not settings.json:
        write_line(render_plan(outlook))
        if not outlook.certain:
            write_note(f"note: {UNCERTAIN}")
    return plan_document(outlook)
