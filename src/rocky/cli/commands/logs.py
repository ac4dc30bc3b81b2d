"""`rocky logs`: the stacks and Spark's own words of a run in which something failed."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_report, write_text
from rocky.cli.options import Settings, StateCommand
from rocky.ledger import LATEST
from rocky.operations.records.logs import LogsReport, LogsRequest, logs

REPORTS: Final = {"logs": LogsReport}


@click.command("logs", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.pass_obj
def command(settings: Settings, run: str) -> ExitCode:
    """Show the log of a run in which something failed.

    RUN is a run's id or the beginning of one; without it, the latest.
    """
    report = logs(settings.workspace, LogsRequest(run))
    if settings.json:
        write_report("logs", report)
    else:
        write_text(report.text)
    return ExitCode.OK
