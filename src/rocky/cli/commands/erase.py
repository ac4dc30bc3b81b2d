"""`rocky erase`: the rows of one subject taken out of every version of every table, certified."""

import sys
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import format_count, format_versions, render_table
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.governance.erase_report import EraseReport, TableErasure

REPORTS: Final = {"erase": EraseReport}


class EraseCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("erase", cls=EraseCommand)
@click.option(
    "--where",
    metavar="CONDITION",
    help="Whose rows: a key column and its value, as `customer_id = 42`; `-` reads it from stdin.",
)
@click.option(
    "--from",
    "sources",
    metavar="SOURCE",
    multiple=True,
    help="The source, seed or model whose column is meant; several if it is the same key in each.",
)
@click.option("--apply", is_flag=True, help="Erase; without it, only say where such rows are.")
@click.option("--reason", metavar="TEXT", help="Why, for the certificate.")
@click.option(
    "--resume",
    is_flag=True,
    help="Go on: finish what was interrupted, and clear what was built anew since.",
)
@click.option(
    "--with-branches",
    is_flag=True,
    help="Delete the branches that hold such rows; else they are in the way.",
)
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter an option
    settings: Settings,
    where: str | None,
    sources: tuple[str, ...],
    apply: bool,
    reason: str | None,
    resume: bool,
    with_branches: bool,
    target: str | None,
) -> ExitCode:
    """Take a person's rows out of every version of every table."""
    if where == "-":
        # What stands on a command line stays in the history of a shell, and others can see it.
        where = sys.stdin.read()
    request = EraseRequest(where, sources, apply, reason, resume, target, with_branches)
    with note_start(settings) as workspace:
        report = erase(workspace, request)
    if settings.json:
        write_report("erase", report)
    elif not settings.quiet:
        write_line(_render(report))
    return ExitCode.OK


def _render(report: EraseReport) -> str:
    """A row a table, then what else holds such rows, and a last line."""
    if not report.applied and not report.column:
        return "nothing to go on with: no erasure was interrupted, no table was built anew since"
    lines = []
    if report.tables:
        head = ("TABLE", "KEY", "ROWS", "FILES", "")
        rows = [
            (
                each.table,
                ", ".join(each.columns),
                format_count(each.rows),
                format_count(each.files),
                _said(each),
            )
            for each in report.tables
        ]
        lines.append(render_table(head, rows, {2, 3}))
    lines += [
        f"branch {each.branch}: {counted(each.files, 'file')} of {each.table} with such rows"
        for each in report.branches
    ]
    lines += [f"branch {each}: deleted" for each in report.branches_deleted]
    lines += [f"{each.name}: {each.advice}" for each in (*report.left, *report.sources)]
    if report.plans and any(each.status == "pending" for each in report.tables):
        lines.append(f"{counted(report.plans, 'kept plan')} will no longer fit: plan again")
    return "\n".join([*lines, _last_line(report)])


def _said(table: TableErasure) -> str:
    if table.status == "refused":
        return f"in the way: {table.reason}"
    if table.status == "clean":
        return "no such row, in any version"
    log = f"{counted(table.commits, 'commit')} without statistics" if table.commits else ""
    at = "" if table.to_version is None else f"version {table.to_version}"
    word = "version" if len(table.versions) == 1 else "versions"
    spans = f"in {word} {format_versions(table.versions)}" if table.versions and not at else ""
    return ", ".join(each for each in (at, spans, log) if each)


def _last_line(report: EraseReport) -> str:
    touched = [each for each in report.tables if each.status in ("erased", "pending")]
    if not touched:
        return "nothing to erase: no table that carries the key holds such rows, in any version"
    rows = counted(sum(each.rows for each in touched), "row")
    files = counted(sum(each.files for each in touched), "file")
    if not report.applied:
        tables = counted(len(touched), "table")
        return f"{rows} of {tables} and {files} would go: `--apply --reason TEXT` erases them"
    said = f"{rows} and {files} erased; the certificate is that of {report.run_id}"
    if report.receipt is None:
        return said
    return f"{said}\nreceipt {report.receipt}: keep it with the request, it is kept nowhere else"
