"""`rocky apply`: carry out a plan that was kept, or say what moved since it was made.

The project is loaded and compiled once: what is compared with the plan is what is run.
"""

from dataclasses import replace
from typing import Any

import click

from rocky.cli.commands.run import RunCommand, run_compiled
from rocky.cli.console import write_json, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.apply import apply_document
from rocky.operations.branch.lookup import require_branch
from rocky.operations.plan.application import PlanApplication
from rocky.operations.plan.proposal import check_kept_plan
from rocky.operations.plan_request import plan_asked
from rocky.operations.workspace import (
    compile_workspace,
    project_location,
    refresh_state,
    state_path,
)
from rocky.plan.kept_plan import load_plan
from rocky.plan.request import parse_request_document


class ApplyCommand(RunCommand):
    """A command whose branch and variables are those of the plan."""

    takes_branch = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params = [each for each in self.params if each.name != "variables"]


@click.command("apply", cls=ApplyCommand)
@click.argument("plan")
@click.pass_obj
def command(settings: Settings, plan: str) -> ExitCode:
    """Carry out a plan that `rocky plan` has kept, exactly, or say what moved since.

    PLAN is its id, at least the first eight digits of it, or the path of its file. Code, settings,
    inputs, tables and records must be as the plan found them; otherwise nothing is run.
    """
    stored = load_plan(project_location(settings.workspace)[0], plan)
    asked = parse_request_document(stored.payload.get("request", {}))
    own = replace(settings, branch=asked.branch, variables=asked.variables)
    if asked.branch is not None:
        found = require_branch(own.workspace)
        own = replace(own, branch=found.branch, branch_adapter=found.branch_adapter)
    refresh_state(own.workspace, state_path(own.workspace))
    compilation = compile_workspace(own.workspace)
    now = plan_asked(own.workspace, compilation, asked.request)
    check_kept_plan(stored, now, state_path(own.workspace))
    if not settings.quiet:
        write_note(f"applying plan {stored.plan_id}")

    def publish(document: dict[str, Any]) -> None:
        write_json("apply", apply_document(stored, document))

    return run_compiled(own, compilation, asked.request, publish, PlanApplication(stored))
