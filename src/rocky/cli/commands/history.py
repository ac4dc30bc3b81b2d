"""`rocky history`: what ran, newest first, or why one run failed.

Reads the state file only, no project and no Spark.
"""

from datetime import datetime
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.history import (
    audited_execution,
    audited_run,
    render_audit,
    render_executions,
    render_runs,
)
from rocky.cli.render.run_account import render_account
from rocky.cli.render.tables import Fitted, describe_dropped, format_moment, terminal_width
from rocky.diagnostics.render import counted
from rocky.operations.moments import FORMS, parse_moment
from rocky.operations.records.history import (
    ExecutionsReport,
    HistoryReport,
    HistoryRequest,
    RunAccount,
    history,
)

REPORTS: Final = {"history": HistoryReport | ExecutionsReport | RunAccount}


def _read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date, a time, or an age."""
    if value is None:
        return None
    try:
        return parse_moment(value)
    except ValueError:
        raise click.BadParameter(f"`{value}` is not {FORMS}", ctx, param) from None


@click.command("history", cls=StateCommand)
@click.argument("run", required=False)
@click.option("--model", metavar="NAME", help="The executions of one model instead of runs.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Show at most this many.",
)
@click.option(
    "--since",
    callback=_read_moment,
    metavar="WHEN",
    help="Only runs that began at or after WHEN: a date, a time (in UTC unless it has an offset),"
    " or an age such as 30m, 12h, 7d or 2w.",
)
@click.option(
    "--audit", is_flag=True, help="Who ran it, how it was triggered, where, from which commit."
)
@click.pass_obj
def command(
    settings: Settings,
    run: str | None,
    model: str | None,
    limit: int,
    since: datetime | None,
    audit: bool,
) -> ExitCode:
    """Show what ran, newest first.

    With RUN, a run's id, the beginning of one or `latest`, show that run alone: who ran which code,
    what became of each model or was promoted, which failed, where and why, what was held back
    because of them, and where the log is. A run of a branch is found too.
    """
    report = history(settings.workspace, HistoryRequest(model, limit, since, audit, run))
    if settings.json:
        write_report("history", report)
    elif isinstance(report, RunAccount):
        write_line(render_account(report, terminal_width()))
    elif isinstance(report, ExecutionsReport):
        _show_executions(settings, report, since, audit=audit)
    else:
        _show_runs(settings, report, since, limit, audit=audit)
    return ExitCode.OK


def _show_runs(
    settings: Settings, report: HistoryReport, since: datetime | None, limit: int, *, audit: bool
) -> None:
    if report.runs and audit:
        write_line(render_audit([audited_run(each.record) for each in report.runs]))
    elif report.runs:
        _show_table(settings, render_runs(report, terminal_width()))
        if len(report.runs) == limit and not settings.quiet:
            write_note(f"at most {limit} are shown, the newest first; `--limit` changes that")
    elif not settings.quiet:
        write_note(_nothing("run", since, "`rocky run` makes the first"))


def _show_executions(
    settings: Settings, report: ExecutionsReport, since: datetime | None, *, audit: bool
) -> None:
    if report.executions and audit:
        write_line(render_audit([audited_execution(each) for each in report.executions]))
    elif report.executions:
        _show_table(settings, render_executions(report, terminal_width()))
        if report.unchanged_runs and not settings.quiet:
            write_note(
                f"{counted(report.unchanged_runs, 'run')} since found that nothing had changed"
            )
    elif not settings.quiet:
        first = f"`rocky run --model {report.model}` makes the first"
        write_note(_nothing(f"execution of `{report.model}`", since, first))


def _show_table(settings: Settings, table: Fitted) -> None:
    write_line(table.text)
    if table.dropped and not settings.quiet:
        write_note(describe_dropped(table.dropped))


def _nothing(what: str, since: datetime | None, first: str) -> str:
    if since is None:
        return f"no {what} is recorded; {first}"
    return f"no {what} since {format_moment(since)} UTC; without `--since` older ones are shown"
