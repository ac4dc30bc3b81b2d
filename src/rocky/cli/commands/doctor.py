"""`rocky doctor`: whether a project can run here, said before anything runs."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.tables import format_duration, render_table
from rocky.operations.health.doctor import CHECKS, DoctorReport, DoctorRequest, doctor
from rocky.operations.health.health_checks import Health

REPORTS: Final = {"doctor": DoctorReport}


@click.command("doctor", cls=StateCommand)
@click.option(
    "--check",
    "names",
    multiple=True,
    metavar="NAME",
    help=f"Only this check. Repeatable. One of {', '.join(CHECKS)}; `spark` then starts Spark.",
)
@click.pass_obj
def command(settings: Settings, names: tuple[str, ...]) -> ExitCode:
    """Check that settings, state, warehouses and Spark are in order.

    Exits 3 when a check is critical. A check that could not be made counts as critical.
    """
    report = doctor(settings.workspace, DoctorRequest(names))
    is_critical = report.health is Health.CRITICAL
    if settings.json:
        write_report("doctor", report)
    elif not settings.quiet or is_critical:
        write_line(_render_report(report, detailed=bool(names)))
    return ExitCode.CRITICAL if is_critical else ExitCode.OK


def _render_report(report: DoctorReport, *, detailed: bool) -> str:
    """A row a check, what to do about those that are not well, and a last line.

    `detailed` for checks that were asked for by name.
    """
    rows = [
        (each.name, each.health.value, format_duration(each.duration_ms), each.message)
        for each in report.checks
    ]
    lines = [render_table(("CHECK", "HEALTH", "TIME", "FOUND"), rows, right={2})]
    for each in report.checks:
        if detailed and each.details:
            lines += ["", *each.details]
    fixes = [f"  {each.name}: {each.fix}" for each in report.checks if each.fix is not None]
    if fixes:
        lines += ["", "what to do:", *fixes]
    counts = [(getattr(report.summary, each.value), each.value) for each in Health]
    summary = ", ".join(f"{count} {word}" for count, word in counts if count)
    return "\n".join([*lines, "", summary])
