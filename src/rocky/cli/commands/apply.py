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
from rocky.cli.planning import plan_asked
from rocky.cli.projects import chosen_place, compile_chosen
from rocky.cli.remote_state import refresh_state
from rocky.cli.render.apply import apply_document
from rocky.cli.state_files import state_path
from rocky.lazy import load_attribute
from rocky.plans.application import Application
from rocky.plans.checking import check_plan
from rocky.plans.request_documents import parse_asked
from rocky.plans.stored import load_plan


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
    stored = load_plan(chosen_place(settings)[0], plan)
    asked = parse_asked(stored.payload.get("request", {}))
    own = replace(settings, branch=asked.branch, variables=asked.variables)
    if asked.branch is not None:
        own = load_attribute("rocky.cli.branches", "require_branch")(own)
    refresh_state(own, state_path(own))
    compilation = compile_chosen(own)
    now = plan_asked(own, compilation, asked.request)
    check_plan(stored, now, state_path(own))
    if not settings.quiet:
        write_note(f"applying plan {stored.plan_id}")

    def publish(document: dict[str, Any]) -> None:
        write_json("apply", apply_document(stored, document))

    return run_compiled(own, compilation, asked.request, publish, Application(stored))
