"""`rocky branch create`, `list`, `show`, `rebase` and `delete`. None needs Spark."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import BranchCommand, BranchRecordCommand, Settings
from rocky.cli.render.tables import NOTHING, format_count, format_moment, render_table
from rocky.diagnostics.render import counted
from rocky.operations.branch.lifecycle import (
    BranchReport,
    CreateRequest,
    DeleteRequest,
    DeletionReport,
    RebaseRequest,
    create,
    delete,
    rebase,
)
from rocky.operations.branch.show import (
    BranchesReport,
    ListRequest,
    PromotionsReport,
    ShowRequest,
    ViewReport,
    list_branches,
    show,
)

REPORTS: Final = {
    "branch create": BranchReport,
    "branch list": BranchesReport | PromotionsReport,
    "branch show": ViewReport,
    "branch rebase": BranchReport,
    "branch delete": DeletionReport,
}


@click.command(
    "create",
    cls=BranchCommand,
    examples=(
        ("rocky branch create net-of-vat", "from production as it is now"),
        ('rocky branch create net-of-vat -m "Without tax"', "with what it is for"),
        ("rocky branch create night --from latest", "from the latest run"),
    ),
)
@click.argument("name")
@click.option(
    "--from",
    "source",
    metavar="REF|RUN",
    help="Another branch, a run, `latest`, or a commit that was run. Default: production now.",
)
@click.option("--base", metavar="REF", help="The commit to compare its code with after the merge.")
@click.option("-m", "--description", metavar="TEXT", help="What it is for.")
@click.option("--target", metavar="ADAPTER", help="The tables of `[adapter.ADAPTER]`.")
@click.pass_obj
def create_command(
    settings: Settings,
    name: str,
    source: str | None,
    base: str | None,
    description: str | None,
    target: str | None,
) -> ExitCode:
    """Make a branch of the tables, without copying.

    `rocky run --branch NAME` then builds what the code makes differently, on the branch alone.
    """
    request = CreateRequest(name, source, base, description, target)
    _show_created(settings, "branch create", create(settings.workspace, request))
    return ExitCode.OK


@click.command("rebase", cls=BranchCommand)
@click.argument("name")
@click.option("--base", metavar="REF", help="The commit to compare its code with after the merge.")
@click.pass_obj
def rebase_command(settings: Settings, name: str, base: str | None) -> ExitCode:
    """Make a branch again from production as it is now.

    What the branch has built is dropped: `rocky run --branch NAME` builds it again from what
    production has now. Approvals become void.
    """
    report = rebase(settings.workspace, RebaseRequest(name, base))
    _show_created(settings, "branch rebase", report)
    return ExitCode.OK


def _show_created(settings: Settings, command: str, report: BranchReport) -> None:
    if settings.json:
        write_report(command, report)
        return
    record = report.branch
    after = f", as {record.from_run} left it" if record.from_run is not None else ""
    write_line(
        f"branch {record.name}: {counted(len(record.tables), 'table')} of {record.parent}{after},"
        " no data copied"
    )
    write_line(f"next: rocky run --branch {record.name}")


@click.command("list", cls=BranchRecordCommand)
@click.option("--all", "everything", is_flag=True, help="Include deleted branches.")
@click.option("--promotions", is_flag=True, help="List promotions and reverts instead.")
@click.pass_obj
def list_command(settings: Settings, everything: bool, promotions: bool) -> ExitCode:
    """List branches."""
    report = list_branches(settings.workspace, ListRequest(everything, promotions))
    if settings.json:
        write_report("branch list", report)
    elif isinstance(report, PromotionsReport):
        write_line(_render_promotions(report))
    else:
        write_line(_render_branches(report, quiet=settings.quiet))
    return ExitCode.OK


def _render_branches(report: BranchesReport, *, quiet: bool) -> str:
    """All branches, one a line."""
    if not report.branches:
        return "no branches" + ("" if quiet else "; `rocky branch create NAME` makes one")
    rows = [
        (
            each.name,
            each.parent,
            str(len(each.tables)),
            format_moment(each.created_at),
            each.created_by,
            each.status.value,
            each.description or "",
        )
        for each in report.branches
    ]
    heads = ("BRANCH", "OF", "TABLES", "CREATED (UTC)", "BY", "STATUS", "FOR")
    return render_table(heads, rows, {2})


def _render_promotions(report: PromotionsReport) -> str:
    """All promotions and reverts, oldest first."""
    if not report.promotions:
        return "nothing was promoted yet"
    heads = ("PROMOTION", "KIND", "BRANCH", "AT", "BY", "TABLES", "VERDICT", "APPROVED BY")
    rows = [
        (
            each.run_id,
            each.kind,
            each.branch,
            format_moment(each.at),
            each.by,
            str(len(each.tables)),
            each.verdict or NOTHING,
            ", ".join(each.approvers) or NOTHING,
        )
        for each in report.promotions
    ]
    return render_table(heads, rows, {5})


@click.command("show", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def show_command(settings: Settings, name: str) -> ExitCode:
    """Show a branch: its tables, and how each compares with production's."""
    report = show(settings.workspace, ShowRequest(name))
    if settings.json:
        write_report("branch show", report)
    else:
        write_line(_render_view(report))
    return ExitCode.OK


def _render_view(report: ViewReport) -> str:
    """A branch and its tables; those that are as they were made are only counted."""
    record = report.branch
    lines = [
        f"branch {record.name} of {record.parent}, made {format_moment(record.created_at)}"
        f" by {record.created_by}",
        f"tables in {record.warehouse}",
    ]
    if record.description:
        lines.append(record.description)
    shown = [each for each in report.tables if each.status != "same"]
    if shown:
        heads = ("TABLE", "STATUS", "ROWS", f"IN {record.parent.upper()}")
        rows = [
            (each.target, each.status, format_count(each.rows), format_count(each.production_rows))
            for each in shown
        ]
        lines += ["", render_table(heads, rows, {2, 3})]
    same = len(report.tables) - len(shown)
    if same:
        lines.append(f"{counted(same, 'table')} as in {record.parent}")
    return "\n".join(lines)


@click.command("delete", cls=BranchCommand)
@click.argument("name")
@click.pass_obj
def delete_command(settings: Settings, name: str) -> ExitCode:
    """Delete a branch and its tables.

    What was promoted stays in production, and so do the records of it and the approvals.
    """
    report = delete(settings.workspace, DeleteRequest(name))
    if settings.json:
        write_report("branch delete", report)
        return ExitCode.OK
    for warning in report.warnings:
        write_line(f"warning: {warning}")
    write_line(f"branch {report.branch.name} is deleted; production is as it was")
    return ExitCode.OK
