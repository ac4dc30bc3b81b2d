"""`rocky compact`: the small files of appended tables become few, with the same rows."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import format_bytes, format_count, render_table
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.maintenance.compact import (
    CompactReport,
    CompactRequest,
    TableCompaction,
    compact,
)

REPORTS: Final = {"compact": CompactReport}


class CompactCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("compact", cls=CompactCommand)
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only say what would be rewritten.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, tables: tuple[str, ...], dry_run: bool, target: str | None
) -> ExitCode:
    """Rewrite the small files of appended tables into larger ones, with the same rows."""
    with note_start(settings) as workspace:
        report = compact(workspace, CompactRequest(tables, dry_run, target))
    if settings.json:
        write_report("compact", report)
    elif not settings.quiet:
        write_line(_render_compaction(report))
    return ExitCode.OK


def _render_compaction(report: CompactReport) -> str:
    """A row a table, and a last line."""
    if not report.tables:
        return "nothing to compact: no table is appended to"
    head = ("TABLE", "FILES", "AFTER", "SIZE", "ROWS", "")
    rows = [_cells(each) for each in report.tables]
    return "\n".join([render_table(head, rows, {1, 2, 3, 4}), _last_line(report)])


def _cells(table: TableCompaction) -> tuple[str, ...]:
    said = {
        "compacted": f"version {table.to_version}",
        "pending": f"{counted(table.rewritten, 'file')} to rewrite",
        "unchanged": "no small files",
        "left_alone": f"left alone: {table.reason}",
    }
    return (
        table.table,
        format_count(table.files_before),
        format_count(table.files_after),
        format_bytes(table.bytes_before if table.bytes_after is None else table.bytes_after),
        format_count(table.rows),
        said[table.status],
    )


def _last_line(report: CompactReport) -> str:
    touched = [each for each in report.tables if each.status in ("compacted", "pending")]
    if not touched:
        return "nothing to compact"
    before = counted(sum(each.files_before for each in touched), "file")
    after = format_count(sum(each.files_after for each in touched))
    tables = counted(len(touched), "table")
    if report.dry_run:
        return f"{before} of {tables} would become {after}"
    return f"{before} of {tables} became {after}, with the same rows, in {report.run_id}"
