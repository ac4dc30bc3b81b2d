"""`rocky plan`: what a run would do and why, without Spark and without a trace."""

import os
from collections.abc import Sequence

import click

from rocky.cli.commands.run import RunCommand, refuse_errors
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.projects import compile_chosen
from rocky.cli.render.plan import UNCERTAIN, plan_document, render_plan
from rocky.cli.state_files import state_path
from rocky.plan.refusals import refusing_findings
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
@click.pass_obj
def command(
    settings: Settings,
    /,
    selectors: Sequence[str],
    models: Sequence[str],
    exclude: Sequence[str],
    pipeline: str | None,
    target: str | None,
    **asked: bool,
) -> ExitCode:
    """Show what `rocky run` would build, reuse or leave, and why.

    Nothing is run or written. A model whose inputs will be built is decided when they are.
    """
    request = RunRequest(
        (*selectors, *models),
        tuple(exclude),
        pipeline,
        full_refresh=asked["full_refresh"],
        rebuild=asked["force_rebuild"],
        reuse=not asked["no_reuse"],
        adapter=target,
    )
    compilation = compile_chosen(settings)
    plan = plan_request(compilation, request)
    refuse_errors(settings, compilation, refusing_findings(plan))
    outlook = foresee_request(plan, request, state=state_path(settings), environment=os.environ)
    if settings.json:
        write_json("plan", plan_document(outlook))
    else:
        write_line(render_plan(outlook))
        if not outlook.certain:
            write_note(f"note: {UNCERTAIN}")
    return ExitCode.OK
