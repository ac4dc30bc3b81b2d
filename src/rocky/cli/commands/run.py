"""`rocky run`: bring tables up to date, and say what it took.

The options of a run stand here for `rocky plan` too, which foresees one: what can be run can be
planned, flag by flag.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.live import open_listener
from rocky.cli.options import RockyCommand, Settings, is_annotated, show_findings
from rocky.cli.render.findings import render_annotations
from rocky.cli.render.run import ending_findings, ending_notes, ending_texts, render_ending
from rocky.cli.render.tables import terminal_width
from rocky.operations.execution.run import Ending, FailedPipeline, PipelineEnding, RunReport, run
from rocky.operations.workspace import Workspace, project_location
from rocky.plan.request import LATEST, RunRequest, Window

REPORTS: Final = {"run": RunReport, "build": RunReport}
Report = TypeVar("Report")
Ended = Callable[[PipelineEnding], None]

_OPTIONS: Final = (
    click.argument("selectors", nargs=-1, metavar="[SELECTOR]..."),
    click.option(
        "--model", "models", multiple=True, metavar="SELECTOR", help="Build these models."
    ),
    click.option("--exclude", multiple=True, metavar="SELECTOR", help="Leave these models out."),
    click.option("--pipeline", metavar="NAME", help="The models of one pipeline."),
    click.option(
        "--parallel",
        type=click.IntRange(min=1),
        metavar="N",
        help="Build at most N models or tables at once. Default: 4, or the pipeline's setting.",
    ),
    click.option("--full-refresh", is_flag=True, help="Build whole tables, whatever the strategy."),
    click.option(
        "--start-anew",
        is_flag=True,
        help="Build whole tables, also those of a state that was lost or put back.",
    ),
    click.option(
        "--force-rebuild",
        "--fresh",
        "force_rebuild",
        is_flag=True,
        help="Build everything that is selected, also what could be reused.",
    ),
    click.option(
        "--force", is_flag=True, help="Build also tables that are held because they were reverted."
    ),
    click.option(
        "--keep-going",
        is_flag=True,
        help="Leave out models with errors, and what stands on them; build the others.",
    ),
    click.option(
        "--no-reuse",
        is_flag=True,
        help="Reuse nothing, but continue where an unfinished run stopped.",
    ),
    click.option("--target", metavar="ADAPTER", help="Run on `[adapter.ADAPTER]`."),
    click.option("--partition", metavar="KEY", help="One time interval, such as 2026-05-30."),
    click.option("--from", "start", metavar="KEY", help="Time intervals from here on."),
    click.option("--to", "end", metavar="KEY", help="Time intervals up to here, included."),
    click.option("--latest", is_flag=True, help="The current time interval. The default."),
    click.option("--missing", is_flag=True, help="The time intervals that were never built."),
    click.option(
        "--lookback",
        type=click.IntRange(min=0),
        metavar="N",
        help="Also N time intervals before the first.",
    ),
    click.option(
        "--filter",
        "filters",
        multiple=True,
        metavar="KEY=VALUE",
        help="Only these tables of a replication pipeline: `tenant=acme`, `table=ord*`.",
    ),
    click.option(
        "--resume", metavar="RUN", help="Skip tables that this run of the pipeline copied."
    ),
    click.option("--resume-latest", is_flag=True, help="Like `--resume`, with the newest run."),
    click.option(
        "--idempotency-key", metavar="KEY", help="Run only once for this key, even if asked again."
    ),
)
_TEST: Final = click.option(
    "--test",
    is_flag=True,
    help="Test each model as it is built; what reads one that fails is not built.",
)
_WINDOW: Final = ("partition", "start", "end", "latest", "missing", "lookback")


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that takes all that can be asked of a run."""
    return _build_options(_TEST(command))


def _build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same without `--test`, which `rocky build` is."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def request_of(given: Mapping[str, Any]) -> RunRequest:
    """What was asked for. Raises click.UsageError for options that cannot be used together."""
    resume = given["resume"]
    if resume is not None and given["resume_latest"]:
        raise click.UsageError("`--resume` and `--resume-latest` cannot be used together")
    return RunRequest(
        (*given["selectors"], *given["models"]),
        tuple(given["exclude"]),
        given["pipeline"],
        given["parallel"],
        full_refresh=given["full_refresh"],
        rebuild=given["force_rebuild"],
        reuse=not given["no_reuse"],
        adapter=given["target"],
        window=Window(**{name: given[name] for name in _WINDOW}),
        filters=tuple(given["filters"]),
        resume=LATEST if given["resume_latest"] else resume,
        idempotency_key=given["idempotency_key"],
        test=given["test"],
        start_anew=given["start_anew"],
        force=given["force"],
        keep_going=given["keep_going"],
    )


class RunCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True
    takes_branch = True


@click.command(
    "run",
    cls=RunCommand,
    examples=(
        ("rocky run", "everything that has changed"),
        ("rocky run +fct_revenue", "a model and all it reads"),
        ("rocky run stg_orders+ --exclude fct_slow", "a model and its readers, but one"),
        ("rocky run tag:layer=mart --full-refresh", "whole tables of some models"),
        ("rocky run daily --from 2026-05-01", "time intervals from a day on"),
        ("rocky run --branch net-of-vat", "on a branch of the tables"),
        ("rocky run -o json", "the result as a JSON document"),
    ),
)
@run_options
@click.pass_obj
def command(settings: Settings, /, **given: Any) -> ExitCode:
    """Build models' tables on Spark, copy and check others, and record it.

    SELECTOR is a model's name, `+model` with all it reads, `model+` with all its readers,
    `tag:KEY=VALUE`, `path:FOLDER` and more; without one, every pipeline runs, each after those it
    depends on.
    """
    return _run(settings, request_of(given))


@click.command(
    "build",
    cls=RunCommand,
    examples=(
        ("rocky build", "everything that has changed, tested"),
        ("rocky build +fct_revenue", "a model, all it reads, and their tests"),
        ("rocky build --branch net-of-vat", "on a branch of the tables"),
    ),
)
@_build_options
@click.pass_obj
def build(settings: Settings, /, **given: Any) -> ExitCode:
    """Load seeds, build models and test each as it is built.

    In the order of the graph: the same as `rocky run --test`. A model's unit tests come before it
    is built, the assertions on its table after; when one of severity `error` fails, nothing that
    reads the model is built.
    """
    return _run(settings, request_of({**given, "test": True}))


def _run(settings: Settings, request: RunRequest) -> ExitCode:
    report = watch(settings, lambda workspace, ended: run(workspace, request, ended=ended))
    if settings.json:
        write_report(settings.command, report)
    return tell(settings, report)


def watch(settings: Settings, operate: Callable[[Workspace, Ended], Report]) -> Report:
    """Run while the terminal shows progress, and then the result of each pipeline."""
    with open_listener(settings) as listener:

        def tell_ending(ended: PipelineEnding) -> None:
            listener.rest()
            text = _text_of(settings, ended.ending)
            if text and not settings.json:
                write_line(f"pipeline {ended.pipeline}\n{text}\n")
            if isinstance(ended.ending, FailedPipeline):
                show_findings(ended.ending.failure, settings)
            _write_notes(settings, ended.ending, ended.pipeline)

        return operate(replace(settings.workspace, listener=listener), tell_ending)


def _text_of(settings: Settings, ending: Ending) -> str:
    return render_ending(
        ending, quiet=settings.quiet, colour=settings.colour, width=terminal_width()
    )


def _write_notes(settings: Settings, ending: Ending, pipeline: str | None = None) -> None:
    """What goes to standard error of a run that has ended; for GitHub, failures at their lines."""
    for note in ending_notes(ending, pipeline):
        write_note(note)
    findings = ending_findings(ending)
    if findings and is_annotated(settings):
        root, _ = project_location(settings.workspace)
        write_note(render_annotations(findings, root, ending_texts(ending)).rstrip())


def tell(settings: Settings, report: RunReport) -> ExitCode:
    """What came of one run, for people; several were told as they ended."""
    if report.run is not None:
        if not settings.json:
            write_line(_text_of(settings, report.run))
        _write_notes(settings, report.run)
    return ExitCode(report.exit_code)
