"""`rocky drift`: how live sources differ from their copies, and what a run would do about it."""

import os
from collections.abc import Sequence
from typing import Any

import click

from rocky.cli.commands.run import RunCommand
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.prospects import drift_document, render_drift
from rocky.lazy import load_attribute
from rocky.operations.pipelines import replications
from rocky.operations.refusals import refuse_errors
from rocky.operations.workspace import compile_workspace, refresh_state, state_path
from rocky.plan.refusals import config_findings
from rocky.plan.request import RunRequest
from rocky.run.prepare.caller import Caller, observe_origin


@click.command("drift", cls=RunCommand)
@click.option("--pipeline", metavar="NAME", help="One pipeline; otherwise all that copy tables.")
@click.option(
    "--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Some tables: `tenant=acme`."
)
@click.option("--target", metavar="ADAPTER", help="On `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, /, pipeline: str | None, filters: Sequence[str], target: str | None
) -> ExitCode:
    """Report how live sources differ from their copies. Nothing is changed.

    Exits 1 when a source could not be looked at.
    """
    compilation = compile_workspace(settings.workspace)
    refuse_errors(compilation, config_findings(compilation))
    chosen = replications(compilation.project, pipeline)
    refresh_state(settings.workspace, state_path(settings.workspace))
    look = load_attribute("rocky.pipelines.replication.preview", "preview_replication")
    adapter_of = load_attribute("rocky.plan.adapters", "pipeline_adapter")
    root = compilation.project.root
    means = Caller(state_path(settings.workspace), observe_origin(root, os.environ), os.environ)
    request = RunRequest(filters=tuple(filters), adapter=target)
    documents: dict[str, Any] = {}
    unseen = False
    for name, each in chosen.items():
        adapter = adapter_of(compilation.project, each, target)
        plan, prospects = look(compilation, name, each, adapter, request, means, prune=False)
        documents[name] = drift_document(plan, prospects)
        unseen = unseen or bool(documents[name]["errors"])
        if not settings.json:
            write_line(f"pipeline {name}\n{render_drift(plan, prospects)}")
        for warning in plan.warnings:
            write_note(f"warning: {warning}")
    if settings.json:
        write_json("drift", {"pipelines": documents})
    return ExitCode.FAILED if unseen else ExitCode.OK
