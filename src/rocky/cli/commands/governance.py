"""`rocky governance plan`, `apply` and `who`: who may do what with tables, in their catalogue."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.groups import CommandGroup
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import render_table
from rocky.diagnostics.render import counted
from rocky.operations.governance.catalogue import (
    ApplyRequest,
    FactChange,
    GovernanceReport,
    WhoReport,
    WhoRequest,
    apply_governance,
    plan_governance,
    who_can_read,
)

REPORTS: Final = {
    "governance plan": GovernanceReport,
    "governance apply": GovernanceReport,
    "governance who": WhoReport,
}
_SIGNS: Final = {"add": "+", "change": "~", "remove": "-", "adopt": "="}
_ID_SHOWN: Final = 12
_STANDING: Final = {
    "declared_and_held": "declared, and held by the catalogue",
    "declared": "declared, and not held yet",
    "foreign": "held by the catalogue, declared by nobody here",
}


class _GovernanceCommand(RockyCommand):
    """A command that keeps state."""

    takes_variables = False
    uses_state = True


@click.group("governance", cls=CommandGroup)
def command() -> None:
    """Compare declared grants with a catalogue, make them hold, or ask who can read a table."""


@command.command("plan", cls=_GovernanceCommand)
@click.pass_obj
def plan_command(settings: Settings) -> ExitCode:
    """Show what the catalogue would be told: add, change, remove, and what others granted."""
    report = plan_governance(settings.workspace)
    if settings.json:
        write_report("governance plan", report)
    else:
        write_line(_render(report))
    return ExitCode.OK


@command.command("apply", cls=_GovernanceCommand)
@click.option("--plan", "plan_id", metavar="ID", help="Only that plan: refused if it changed.")
@click.pass_obj
def apply_command(settings: Settings, plan_id: str | None) -> ExitCode:
    """Make the catalogue say what is declared, each statement on record.

    The exit code is 1 when something is not in place.
    """
    report = apply_governance(settings.workspace, ApplyRequest(plan_id))
    if settings.json:
        write_report("governance apply", report)
    else:
        write_line(_render(report))
    for warning in report.warnings:
        write_note(f"warning: {warning}")
    return ExitCode.FAILED if report.failed else ExitCode.OK


@command.command("who", cls=_GovernanceCommand)
@click.argument("table")
@click.pass_obj
def who_command(settings: Settings, table: str) -> ExitCode:
    """Show who can read TABLE, a model or a full name, and by what."""
    report = who_can_read(settings.workspace, WhoRequest(table))
    if settings.json:
        write_report("governance who", report)
    else:
        write_line(_render_who(report))
    return ExitCode.OK


def _render(report: GovernanceReport) -> str:
    lines = [_render_change(each) for each in report.changes]
    lines += [f"? {each.said}\n    somebody else said it" for each in report.foreign]
    lines += [f"  {each.said}\n    waits: the catalogue has not got it" for each in report.waiting]
    return "\n".join([*lines, _last_line(report)])


def _render_change(change: FactChange) -> str:
    before = "" if change.before is None else f", before: {change.before}"
    line = f"{_SIGNS[change.action]} {change.statement}\n    {change.why}{before}"
    if change.error is not None:
        line += f"\n    {change.status.replace('_', ' ')}: {change.error}"
    return line


def _last_line(report: GovernanceReport) -> str:
    changes = counted(len(report.changes), "change")
    if not report.changes:
        waits = f", {len(report.waiting)} waiting" if report.waiting else ""
        said = "nothing to do" if report.waiting else "holds all that is declared"
        return f"{report.catalogue}: {said} ({report.in_place} in place{waits})"
    if report.applied:
        done = sum(each.status == "done" for each in report.changes)
        return f"{done} of {changes} in place in {report.catalogue}"
    return f"{changes} of {report.catalogue}; plan {report.plan_id[:_ID_SHOWN]}"


def _render_who(report: WhoReport) -> str:
    if report.catalogue is None:
        return (
            f"{report.table}: no catalogue is asked ([governance.catalog] has none), so whoever can"
            " read its files can read it"
        )
    if not report.readers:
        return f"{report.table}: nobody is granted to read it, in {report.catalogue}"
    rows = [
        (
            each.principal,
            ", ".join(each.through),
            _STANDING[each.standing] + (f"; lacks {', '.join(each.lacks)}" if each.lacks else ""),
            ", ".join(each.why),
        )
        for each in report.readers
    ]
    said = f"{report.table} in {report.catalogue}; whoever can read its files needs no grant"
    return "\n".join([render_table(("WHO", "THROUGH", "STATE", "BY"), rows, set()), said])
