"""`rocky backfill`: time intervals of a model computed again, as far as they are not done."""

from dataclasses import replace
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.live import open_listener
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import NOTHING, format_count, render_table
from rocky.diagnostics.render import counted
from rocky.operations.execution.backfill import (
    BackfillInterval,
    BackfillReport,
    BackfillRequest,
    backfill,
)

REPORTS: Final = {"backfill": BackfillReport}


class BackfillCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("backfill", cls=BackfillCommand)
@click.argument("model", metavar="MODEL")
@click.option("--from", "start", metavar="KEY", required=True, help="The first time interval.")
@click.option("--to", "end", metavar="KEY", help="The last one; without it up to now.")
@click.option("--downstream", is_flag=True, help="Also what reads the model.")
@click.option("--dry-run", is_flag=True, help="Only say what would be computed.")
@click.option("--force", is_flag=True, help="Also what is done already.")
@click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`.")
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter an option
    settings: Settings,
    model: str,
    start: str,
    end: str | None,
    downstream: bool,
    dry_run: bool,
    force: bool,
    target: str | None,
) -> ExitCode:
    """Compute the time intervals of a model again, and those of its readers.

    An interval is done when the model's code of now has computed it: asking again goes on with the
    rest.
    """
    request = BackfillRequest(model, start, end, downstream, dry_run, force, target)
    with open_listener(settings) as listener:
        report = backfill(replace(settings.workspace, listener=listener), request)
    if settings.json:
        write_report("backfill", report)
    elif not settings.quiet or report.exit_code:
        write_line(_render_backfill(report))
    return ExitCode(report.exit_code)


def _render_backfill(report: BackfillReport) -> str:
    """A row an interval, what went wrong, and a last line."""
    head = ("MODEL", "INTERVAL", "STATUS", "ROWS", "RUN")
    rows = [_cells(each) for each in report.intervals]
    failures = [
        f"error: {each.model} {each.interval}: {each.error}"
        for each in report.intervals
        if each.error is not None
    ]
    return "\n".join([render_table(head, rows, {3}), *failures, _last_line(report)])


def _cells(each: BackfillInterval) -> tuple[str, ...]:
    rows = NOTHING if each.rows is None else format_count(each.rows)
    return each.model, each.interval, each.status, rows, each.run_id or NOTHING


def _last_line(report: BackfillReport) -> str:
    words = ("computed", "done", "failed", "pending")
    counts = {word: sum(each.status == word for each in report.intervals) for word in words}
    said = [f"{format_count(number)} {word}" for word, number in counts.items() if number]
    return f"{counted(len(report.intervals), 'time interval')}: {', '.join(said)}"
