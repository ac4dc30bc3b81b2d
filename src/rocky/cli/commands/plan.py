"""`rocky plan`: what a run would do and why, without Spark and without a trace but the plan itself.

The plan is kept under the hash of what it says, and `rocky apply` carries out just that.
"""

from typing import Any

import click

from rocky.cli.commands.run import RunCommand
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.plan import describe_plan, plan_document, plan_notes, render_plan
from rocky.cli.run_options import request_of, run_options
from rocky.operations.plan_request import plan_asked, refuse_secrets
from rocky.operations.workspace import compile_workspace, refresh_state, state_path
from rocky.plan.kept_plan import PLANS_FOLDER, save_plan


@click.command("plan", cls=RunCommand)
@run_options
@click.pass_obj
def command(settings: Settings, /, **given: Any) -> ExitCode:
    """Show what `rocky run` would build, copy, reuse or leave, and why.

    Nothing is run; the plan is kept in `.rocky/plans`, and `rocky apply` carries it out. A model
    whose inputs will be built is decided when they are. For a pipeline that copies tables Spark is
    asked what columns its source has now.
    """
    request = request_of(given)
    refuse_secrets(settings.workspace)
    refresh_state(settings.workspace, state_path(settings.workspace))
    compilation = compile_workspace(settings.workspace)
    plan = plan_asked(settings.workspace, compilation, request)
    kept = save_plan(compilation.project.root, plan.stored)
    if settings.json:
        write_json("plan", plan_document(plan, kept))
    else:
        write_line(render_plan(plan))
    for note in plan_notes(plan, quiet=settings.quiet):
        write_note(note)
    if not settings.quiet:
        write_note(f"plan {kept.plan_id} is kept in {PLANS_FOLDER}; {describe_plan(plan, kept)}")
    return ExitCode.FAILED if plan.over_budget else ExitCode.OK
