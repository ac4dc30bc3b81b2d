"""`rocky watch`: what a compile finds each time a file is saved, and what a run builds then."""

from contextlib import suppress
from time import strftime
from typing import Final

import click

from rocky.cli.commands.compile import show_compile
from rocky.cli.commands.run import RunCommand, tell
from rocky.cli.commands.run import watch as with_progress
from rocky.cli.console import ExitCode, write_note, write_report
from rocky.cli.options import Settings
from rocky.operations.execution.run import RunReport, run
from rocky.operations.execution.watch import WatchReport, WatchRequest, watch
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest

REPORTS: Final = {"watch": WatchReport}
_SHOWN_FILES: Final = 3


@click.command(
    "watch",
    cls=RunCommand,
    examples=(
        ("rocky watch", "compile on every save"),
        ("rocky watch --run", "build what was saved and what reads it"),
        ("rocky watch --run --test +fct_revenue", "build and test these, after every save"),
        ("rocky watch --run --branch net-of-vat", "on a branch of the tables"),
    ),
)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option("--run", "builds", is_flag=True, help="Build after each compile without errors.")
@click.option("--test", is_flag=True, help="With --run: test each model as it is built.")
@click.pass_obj
def command(
    settings: Settings, selectors: tuple[str, ...], *, builds: bool, test: bool
) -> ExitCode:
    """Compile, or build, each time a file of the project is saved.

    With `--run`: the models that were saved and all that reads them, or those of SELECTOR; Spark
    stays up between saves. Ctrl-C ends it. With `-o json` there is a document a line for each
    round.
    """

    def build(_: Workspace, request: RunRequest) -> RunReport:
        return with_progress(settings, lambda each, ended: run(each, request, ended=ended))

    with suppress(KeyboardInterrupt):
        request = WatchRequest(selectors, builds, test)
        for report in watch(settings.workspace, request, build=build):
            _show(settings, report)
    return ExitCode.OK


def _show(settings: Settings, report: WatchReport) -> None:
    if settings.json:
        write_report("watch", report)
        return
    if report.changed and not settings.quiet:
        rest = len(report.changed) - _SHOWN_FILES
        more = f" and {rest} more" if rest > 0 else ""
        write_note(f"\n{strftime('%H:%M:%S')}  {', '.join(report.changed[:_SHOWN_FILES])}{more}")
    if report.compiled is not None:
        show_compile(settings, report.compiled, None)
    if report.run is not None:
        tell(settings, report.run)
    if report.failure is not None:
        write_note(f"error: {report.failure}")
    ends = report.run is not None and report.run.exit_code == ExitCode.INTERRUPTED
    if not settings.quiet and not ends:
        write_note("waiting for a file to be saved; Ctrl-C ends it")
