"""`rocky run`: bring tables up to date, and say what it took.

Compile errors in what was selected, or in what it reads, stop the run before Spark starts.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.live import LineListener
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.projects import compile_chosen
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.cli.render.run import describe_budget, render_run, run_document
from rocky.cli.state_files import state_path
from rocky.compiler.compilation import Compilation
from rocky.errors import RockyError
from rocky.lazy import load_attribute
from rocky.plan.refusals import refusing_findings
from rocky.run.build import Window
from rocky.run.circumstances import observe_circumstances
from rocky.run.listener import Listener, Silence
from rocky.run.outcomes import RunReport
from rocky.run.request import RunRequest, plan_request
from rocky.run.unheeded import settings_without_effect


class RunCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("run", cls=RunCommand)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.option("--model", "models", multiple=True, metavar="SELECTOR", help="Build these models.")
@click.option("--exclude", multiple=True, metavar="SELECTOR", help="But not these.")
@click.option("--pipeline", metavar="NAME", help="The models of one pipeline.")
@click.option(
    "--parallel",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="Models at once, at most.",
)
@click.option("--full-refresh", is_flag=True, help="Build whole tables, whatever the strategy.")
@click.option(
    "--force-rebuild",
    "--fresh",
    "force_rebuild",
    is_flag=True,
    help="Build also what an earlier run has built from the same code and inputs.",
)
@click.option(
    "--no-reuse", is_flag=True, help="Reuse nothing, but go on where an unfinished run stopped."
)
@click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`.")
@click.option("--partition", metavar="KEY", help="One time interval, as 2026-05-30.")
@click.option("--from", "start", metavar="KEY", help="Time intervals from here on.")
@click.option("--to", "end", metavar="KEY", help="Time intervals up to here, included.")
@click.option("--latest", is_flag=True, help="The time interval of now. The default.")
@click.option("--missing", is_flag=True, help="The time intervals that were never built.")
@click.option(
    "--lookback",
    type=click.IntRange(min=0),
    metavar="N",
    help="Also N time intervals before the first.",
)
@click.pass_obj
def command(  # noqa: PLR0913 - one for each option
    settings: Settings,
    /,
    selectors: Sequence[str],
    models: Sequence[str],
    exclude: Sequence[str],
    pipeline: str | None,
    parallel: int,
    full_refresh: bool,
    force_rebuild: bool,
    no_reuse: bool,
    target: str | None,
    **window: object,
) -> ExitCode:
    """Build the selected models' tables on Spark and record it.

    SELECTOR is a model's name, `+model` with all it reads, `model+` with all its readers,
    `tag:KEY=VALUE`, `path:FOLDER` and more; without one, everything is built.
    """
    request = RunRequest(
        (*selectors, *models),
        tuple(exclude),
        pipeline,
        parallel,
        full_refresh=full_refresh,
        rebuild=force_rebuild,
        reuse=not no_reuse,
        adapter=target,
        window=_window(window, full_refresh=full_refresh),
    )
    compilation = compile_chosen(settings)
    plan = plan_request(compilation, request)
    refuse_errors(settings, compilation, refusing_findings(plan))
    for setting in settings_without_effect(plan):
        write_note(f"warning: {setting} has no effect yet")
    run = load_attribute("rocky.run.project_run", "run_request")
    circumstances = observe_circumstances(compilation.project.root, os.environ)
    with _listener(settings) as listener:
        report: RunReport = run(
            plan,
            request,
            state=state_path(settings),
            circumstances=circumstances,
            environment=os.environ,
            listener=listener,
        )
    if settings.json:
        write_json("run", run_document(report))
    else:
        write_line(render_run(report))
    for warning in report.warnings:
        write_note(f"warning: {warning}")
    for line in describe_budget(report):
        write_note(line)
    return ExitCode(report.exit_code)


def _window(given: dict[str, object], *, full_refresh: bool) -> Window:
    ways = [name for name in ("partition", "latest", "missing") if given[name]]
    if given["start"] or given["end"]:
        ways.append("from/to")
    if len(ways) > 1:
        raise click.UsageError(f"`--{ways[0]}` and `--{ways[1]}` exclude each other")
    if ways and full_refresh:
        raise click.UsageError(
            f"`--full-refresh` builds every time interval: leave it or `--{ways[0]}` out"
        )
    return Window(**given)  # type: ignore[arg-type]  # click has checked each value


def refuse_errors(settings: Settings, compilation: Compilation, errors: Sequence[object]) -> None:
    """Nothing is written unless all that was selected compiled."""
    if not errors:
        return
    write_note(
        render_findings(errors, compilation.project, "full", colour=settings.colour).rstrip()  # type: ignore[arg-type]
    )
    raise RockyError(f"{counted(len(errors), 'error')}: nothing was run, nothing was written")


@contextmanager
def _listener(settings: Settings) -> Iterator[Listener]:
    """Who hears of progress: nobody, a terminal, or a log."""
    if settings.quiet:
        yield Silence()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with load_attribute("rocky.cli.live", "LiveListener")(
            no_colour=not settings.colour
        ) as live:
            yield live
    else:
        yield LineListener()
