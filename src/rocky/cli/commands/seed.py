"""`rocky seed`: the project's CSV files, loaded into their tables."""

from collections.abc import Sequence
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.run import describe_budget
from rocky.cli.render.tables import format_bytes, format_count, format_duration, render_table
from rocky.cli.start_notes import note_start
from rocky.operations.execution.seed import SeedReport, SeedRequest, seed

REPORTS: Final = {"seed": SeedReport}
_HEAD: Final = ("SEED", "TABLE", "STATUS", "ROWS", "WRITTEN", "TIME")


class SeedCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True
    takes_branch = True


@click.command("seed", cls=SeedCommand)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--full-refresh", is_flag=True, help="Also load seeds that have not changed.")
@click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, names: Sequence[str], full_refresh: bool, target: str | None
) -> ExitCode:
    """Load seeds into their tables: those named, or all."""
    with note_start(settings) as workspace:
        report = seed(workspace, SeedRequest(tuple(names), full_refresh, target))
    if settings.json:
        write_report("seed", report)
    elif report.result is not None:
        write_line(_render(report))
    elif not settings.quiet:
        listed = ", ".join(f"`{each.name}`" for each in report.seeds)
        write_line(f"nothing to load: {listed} unchanged")
    if report.result is not None:
        if report.result.state_error is not None:
            write_note(f"error: {report.result.state_error}")
        if report.seal_error is not None:
            write_note(f"error: {report.seal_error}")
        for line in describe_budget(report.result):
            write_note(line)
    return ExitCode(report.exit_code)


def _render(report: SeedReport) -> str:
    """A row a seed, what failed, and a last line."""
    rows = [
        (
            each.name,
            each.target or "",
            each.status,
            format_count(each.rows),
            format_bytes(each.bytes_written),
            format_duration(each.duration_ms),
        )
        for each in report.seeds
    ]
    held = [f"{each.name} {each.reason}" for each in report.seeds if each.reason]
    failures = [f"error: {each.name}: {each.error}" for each in report.seeds if each.error]
    found = report.summary
    words = ("loaded", "unchanged", "held", "failed")
    counts = ", ".join(f"{count} {word}" for word in words if (count := getattr(found, word)))
    last = f"{report.run_id}: {counts}"
    return "\n".join([render_table(_HEAD, rows, {3, 4, 5}), *held, *failures, last])
