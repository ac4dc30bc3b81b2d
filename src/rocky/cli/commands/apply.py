"""`rocky apply`: carry out a plan that was kept, or say what moved since it was made."""

from typing import Final

import click

from rocky.cli.commands.run import RunCommand, tell, watch
from rocky.cli.console import ExitCode, write_note, write_report
from rocky.cli.options import Settings
from rocky.operations.execution.apply import ApplyReport, ApplyRequest, apply
from rocky.plan.kept_plan import KeptPlan

REPORTS: Final = {"apply": ApplyReport}


class ApplyCommand(RunCommand):
    """A command whose branch and variables are those of the plan."""

    takes_branch = False
    takes_variables = False


@click.command("apply", cls=ApplyCommand)
@click.argument("plan")
@click.pass_obj
def command(settings: Settings, plan: str) -> ExitCode:
    """Run a plan that `rocky plan` saved, or say what has changed since.

    PLAN is its id, at least the first eight digits of it, or the path of its file. Code, settings,
    inputs, tables and records must be as the plan found them; otherwise nothing is run.
    """

    def begun(kept: KeptPlan) -> None:
        if not settings.quiet:
            write_note(f"applying plan {kept.plan_id}")

    request = ApplyRequest(plan)
    report = watch(
        settings,
        lambda workspace, ended: apply(workspace, request, begun=begun, ended=ended),
    )
    if settings.json:
        write_report("apply", report)
    return tell(settings, report.result)
