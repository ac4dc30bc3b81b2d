"""`rocky retention`: rows that are older than their models keep them, deleted and recorded."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import format_count, render_table
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.maintenance.retention import (
    RetentionReport,
    RetentionRequest,
    TableRetention,
    retention,
)

REPORTS: Final = {"retention": RetentionReport}


class RetentionCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("retention", cls=RetentionCommand)
@click.argument("models", metavar="[MODEL]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, models: tuple[str, ...], dry_run: bool, target: str | None
) -> ExitCode:
    """Delete rows that are older than their models' `retention`."""
    with note_start(settings) as workspace:
        report = retention(workspace, RetentionRequest(models, dry_run, target))
    if settings.json:
        write_report("retention", report)
    elif not settings.quiet:
        write_line(_render_retention(report))
    return ExitCode.OK


def _render_retention(report: RetentionReport) -> str:
    """A row a table, and a last line."""
    if not report.tables:
        return 'nothing to delete: no model that has been built says `retention = "90d"`'
    head = ("TABLE", "BEFORE", "ROWS", "")
    rows = [
        (each.table, f"{each.cutoff:%Y-%m-%d}", format_count(each.rows), _said(each))
        for each in report.tables
    ]
    return "\n".join([render_table(head, rows, {2}), _last_line(report)])


def _said(table: TableRetention) -> str:
    if table.status == "left_alone":
        return f"left alone: {table.reason}"
    if table.status == "unchanged":
        return "no old rows"
    if table.expired is not None:
        return f"{counted(table.expired, 'row')} deleted, version {table.to_version}"
    if table.certain == table.possible:
        return f"{counted(table.certain, 'row')} would go"
    return f"{format_count(table.certain)} to {counted(table.possible, 'row')} would go"


def _last_line(report: RetentionReport) -> str:
    touched = [each for each in report.tables if each.status in ("expired", "pending")]
    if not touched:
        return "nothing to delete"
    tables = counted(len(touched), "table")
    if report.dry_run:
        return f"{tables} would lose rows"
    rows = counted(sum(each.expired or 0 for each in touched), "row")
    return f"{rows} of {tables} deleted in {report.run_id}"
