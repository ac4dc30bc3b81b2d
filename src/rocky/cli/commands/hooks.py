"""`rocky hooks list` and `rocky hooks test`: what is called when something happens in a run."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.groups import CommandGroup
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import NOTHING, render_table
from rocky.operations.execution.hooks import (
    HooksReport,
    HooksRequest,
    HookTestReport,
    list_hooks,
    test_hooks,
)
from rocky.project.configuration.hooks import Hooks

REPORTS: Final = {"hooks list": HooksReport, "hooks test": HookTestReport}


_event = click.argument("event", required=False, type=click.Choice(Hooks._fields))


class _HookCommand(RockyCommand):
    """Values for SQL are given to commands that read it."""

    takes_variables = False


@click.group("hooks", cls=CommandGroup)
def command() -> None:
    """List what is called when something happens in a run, or try it."""


@command.command("list", cls=_HookCommand)
@_event
@click.pass_obj
def list_command(settings: Settings, event: str | None) -> ExitCode:
    """List the project's hooks; with EVENT, those of one event."""
    report = list_hooks(settings.workspace, HooksRequest(event))
    if settings.json:
        write_report("hooks list", report)
    else:
        rows = [
            (
                each.event,
                each.target,
                "signed" if each.signed else NOTHING,
                "required" if each.required else NOTHING,
            )
            for each in report.hooks
        ]
        write_line(render_table(("EVENT", "CALLS", "SIGNED", "REQUIRED"), rows, set()))
    return ExitCode.OK


@command.command("test", cls=_HookCommand)
@_event
@click.pass_obj
def test_command(settings: Settings, event: str | None) -> ExitCode:
    """Tell each hook of an event that is marked as a test; with EVENT, those of one event.

    The exit code is 1 when one did not take it.
    """
    report = test_hooks(settings.workspace, HooksRequest(event))
    if settings.json:
        write_report("hooks test", report)
    else:
        rows = [(each.event, each.target, each.error or "taken") for each in report.deliveries]
        write_line(render_table(("EVENT", "CALLS", "ANSWER"), rows, set()))
    return ExitCode.FAILED if report.failed else ExitCode.OK
