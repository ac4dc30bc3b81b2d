"""`rocky gc`: files that nothing needs any more, removed and recorded. Starts no Spark.

With `--clear-versions` it is files that only versions need which were masked otherwise than now.
"""

from collections.abc import Iterator
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import (
    NOTHING,
    format_bytes,
    format_count,
    format_versions,
    render_table,
)
from rocky.diagnostics.render import counted
from rocky.errors import InvalidRequest
from rocky.operations.maintenance.clear_versions import (
    ClearVersionsReport,
    ClearVersionsRequest,
    TableClearing,
    clear_versions,
)
from rocky.operations.maintenance.gc import GcReport, GcRequest, KeptByReason, TableCollection, gc

REPORTS: Final = {"gc": GcReport | ClearVersionsReport}


class CollectCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("gc", cls=CollectCommand)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option(
    "--clear-versions",
    "clears",
    is_flag=True,
    help="Instead, remove what only versions have that were masked otherwise than now, or clear.",
)
@click.option("--reason", metavar="TEXT", help="Why, for the certificate of cleared versions.")
@click.option("--target", metavar="ADAPTER", help="Only the warehouse of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings,
    dry_run: bool,
    clears: bool,
    reason: str | None,
    target: str | None,
) -> ExitCode:
    """Remove files that no table, branch or retained run needs."""
    if clears:
        return _clear(settings, ClearVersionsRequest(dry_run, reason, target))
    if reason is not None:
        raise InvalidRequest("`--reason` is of versions that are cleared: `--clear-versions`")
    report = gc(settings.workspace, GcRequest(dry_run, target))
    if settings.json:
        write_report("gc", report)
    elif not settings.quiet or report.has_failed:
        write_line(_render_collection(report))
    if report.dry_run and not dry_run and not settings.quiet:
        write_note("nothing was removed: `[gc] physical_delete = false`")
    return ExitCode.FAILED if report.has_failed else ExitCode.OK


def _clear(settings: Settings, request: ClearVersionsRequest) -> ExitCode:
    report = clear_versions(settings.workspace, request)
    if settings.json:
        write_report("gc", report)
    elif not settings.quiet:
        write_line(_render_clearing(report))
    if report.dry_run and not request.dry_run and not settings.quiet:
        write_note("nothing was removed: `[gc] physical_delete = false`")
    return ExitCode.OK


def _render_clearing(report: ClearVersionsReport) -> str:
    """A row a table, branches that are in the way, and a last line."""
    if not report.tables:
        return "nothing to clear: no table holds a masked column"
    head = ("TABLE", "VERSIONS", "FILES", "SIZE", "")
    rows = [
        (
            each.table,
            format_versions(each.versions) or NOTHING,
            format_count(each.files),
            format_bytes(each.bytes),
            _said_of_clearing(each),
        )
        for each in report.tables
    ]
    branches = [
        f"branch {each.branch}: {counted(each.files, 'file')} of {each.table} with such values"
        for each in report.branches
    ]
    files = sum(each.files for each in report.tables if each.status in ("pending", "cleared"))
    if report.run_id is not None:
        last = f"{counted(files, 'file')} removed; the certificate is that of {report.run_id}"
    elif any(each.status == "pending" for each in report.tables):
        last = f"would remove {counted(files, 'file')}"
    else:
        last = "nothing to remove"
    return "\n".join([render_table(head, rows, {2, 3}), *branches, last])


def _said_of_clearing(table: TableClearing) -> str:
    if table.status == "refused":
        return f"in the way: {table.reason}"
    if table.status == "clean":
        return "every version that is left is masked as now"
    parts = [
        f"{counted(table.commits, 'commit')} without statistics" if table.commits else "",
        f"{counted(table.runs, 'run')} no longer to be replayed" if table.runs else "",
    ]
    return ", ".join(each for each in parts if each)


def _render_collection(report: GcReport) -> str:
    """A row a table, what went wrong, and a last line."""
    if report.refused is not None:
        return f"left everything alone: {report.refused}"
    if not report.tables:
        return "nothing to collect: no run has written a table here"
    gone = "WOULD GO" if report.dry_run else "REMOVED"
    head = ("TABLE", gone, "SIZE", "KEPT", "SIZE", "WHY")
    rows = [_cells(each) for each in report.tables]
    failed = [each for each in report.tables if each.status in ("failed", "claim_lost")]
    failures = [f"error: {each.table}: {each.reason}" for each in failed]
    return "\n".join([render_table(head, rows, {1, 2, 3, 4}), *failures, _last_line(report)])


def _cells(table: TableCollection) -> tuple[str, ...]:
    if table.status == "left_alone":
        return table.table, NOTHING, NOTHING, NOTHING, NOTHING, f"left alone: {table.reason}"
    kept = table.kept
    each = (kept.live, kept.needed, kept.shared, kept.held, kept.young)
    return (
        table.table,
        format_count(table.removed.files),
        format_bytes(table.removed.bytes),
        format_count(sum(one.files for one in each)),
        format_bytes(sum(one.bytes for one in each)),
        ", ".join(_reasons(kept)),
    )


def _reasons(kept: KeptByReason) -> Iterator[str]:
    needed = f"needed by {counted(kept.needed.runs, 'run')}"
    said = (
        (kept.live, "live"),
        (kept.needed, needed),
        (kept.shared, "on branches"),
        (kept.held, "a running run may read"),
        (kept.young, "young"),
    )
    yield from (f"{files.files} {why}" for files, why in said if files.files)


def _last_line(report: GcReport) -> str:
    summary = report.summary
    said = "would remove" if report.dry_run else "removed"
    removed, kept = counted(summary.files_removed, "file"), counted(summary.files_kept, "file")
    parts = [
        f"{said} {removed} ({format_bytes(summary.bytes_removed)})",
        f"kept {kept} ({format_bytes(summary.bytes_kept)})",
    ]
    if summary.tables_left_alone:
        parts.append(f"left {counted(summary.tables_left_alone, 'table')} alone")
    return ", ".join(parts)
