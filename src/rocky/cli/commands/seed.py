"""`rocky seed`: the project's CSV files, loaded into their tables.

A run like any other, so it is recorded and locked like one. A seed whose file and columns are those
its table was loaded from is left alone.
"""

import os
from collections.abc import Sequence

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.cli.render.run import describe_budget
from rocky.cli.render.seeds import (
    render_seeds,
    render_unchanged,
    seeds_document,
    unchanged_document,
)
from rocky.errors import RunRefused
from rocky.lazy import load_attribute
from rocky.operations.workspace import compile_workspace, state_path
from rocky.plan.refusals import refusing_findings
from rocky.plan.request import RunRequest, choose_adapter
from rocky.plan.steps import RunPlan, plan_seeds
from rocky.run.materialize.seeds import is_loaded, refuse_shared_target
from rocky.run.outcomes import RunResult
from rocky.run.prepare.caller import Caller, observe_origin
from rocky.store.warehouse import open_warehouse


class SeedCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True
    takes_branch = True


@click.command("seed", cls=SeedCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--full-refresh", is_flag=True, help="Load also what has not changed.")
@click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, names: Sequence[str], full_refresh: bool, target: str | None
) -> ExitCode:
    """Load the seeds that are named, or all, into their tables."""
    compilation = compile_workspace(settings.workspace)
    plan = plan_seeds(compilation, names)
    errors = refusing_findings(plan)
    if errors:
        project = compilation.project
        write_note(render_findings(errors, project, "full", colour=settings.colour).rstrip())
        raise RunRefused(f"{counted(len(errors), 'error')}: nothing was loaded")
    request = RunRequest(tuple(names), full_refresh=full_refresh, adapter=target)
    loaded = {} if full_refresh else _loaded(plan, request)
    if len(loaded) == len(plan.steps):
        return _say_unchanged(settings, loaded)
    run = load_attribute("rocky.run.project_run", "run_request")
    report: RunResult = run(
        plan,
        request,
        Caller(
            state_path(settings.workspace),
            observe_origin(compilation.project.root, os.environ),
            os.environ,
        ),
    )
    if settings.json:
        write_json("seed", seeds_document(report))
    else:
        write_line(render_seeds(report))
    if report.state_error is not None:
        write_note(f"error: {report.state_error}")
    for line in describe_budget(report):
        write_note(line)
    return ExitCode(report.exit_code)


def _loaded(plan: RunPlan, request: RunRequest) -> dict[str, str]:
    """The tables of seeds that need no loading, by seed. Their logs say so: no Spark is needed."""
    project = plan.project
    adapter = choose_adapter(project, plan, request.adapter)
    options = {**os.environ, **adapter.conf}
    warehouse = open_warehouse(adapter.warehouse, base=project.root, options=options)
    seeds = [project.seeds[step.key] for step in plan.steps]
    targets = {seed.name: refuse_shared_target(seed, project) for seed in seeds}
    return {
        seed.name: targets[seed.name].full_name
        for seed in seeds
        if is_loaded(seed, warehouse.table(targets[seed.name]))
    }


def _say_unchanged(settings: Settings, loaded: dict[str, str]) -> ExitCode:
    if settings.json:
        write_json("seed", unchanged_document(loaded))
    elif not settings.quiet:
        write_line(render_unchanged(loaded))
    return ExitCode.OK
