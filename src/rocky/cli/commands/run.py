"""`rocky run`: bring tables up to date, and say what it took.

Compile errors in what was selected, or in what it reads, stop the run before Spark starts.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import click

from rocky.cli.console import describe_failure, write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.live import LineListener
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.pipelines import is_of_models, key_of_pipeline, pipelines_to_run
from rocky.cli.projects import compile_chosen
from rocky.cli.render.compilation import counted
from rocky.cli.render.findings import render_findings
from rocky.cli.render.pipelines import pipeline_document, render_pipeline
from rocky.cli.render.run import describe_budget, render_run, run_document
from rocky.cli.state_files import state_path
from rocky.cli.syncing import sync_listener
from rocky.compiler.compilation import Compilation
from rocky.errors import RockyError, RunSkipped
from rocky.lazy import load_attribute
from rocky.pipelines.report import PipelineReport
from rocky.plan.refusals import config_findings, refusing_findings
from rocky.run.build import Window
from rocky.run.circumstances import observe_circumstances
from rocky.run.listener import Listener, Silence
from rocky.run.means import Means
from rocky.run.outcomes import RunReport
from rocky.run.request import LATEST, RunRequest, plan_request
from rocky.run.unheeded import pipeline_settings_without_effect, settings_without_effect


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
    metavar="N",
    help="Models or tables at once, at most. Default: 4, or what the pipeline says.",
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
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="KEY=VALUE",
    help="Tables of a pipeline that copies: `tenant=acme`, `table=ord*`.",
)
@click.option("--resume", metavar="RUN", help="Leave what a run of this pipeline has copied.")
@click.option("--resume-latest", is_flag=True, help="The same, of its newest run.")
@click.option(
    "--idempotency-key", metavar="KEY", help="Run once for this key, however often asked."
)
@click.pass_obj
def command(  # noqa: PLR0913 - one for each option
    settings: Settings,
    /,
    selectors: Sequence[str],
    models: Sequence[str],
    exclude: Sequence[str],
    pipeline: str | None,
    parallel: int | None,
    full_refresh: bool,
    force_rebuild: bool,
    no_reuse: bool,
    target: str | None,
    filters: Sequence[str],
    resume: str | None,
    resume_latest: bool,
    idempotency_key: str | None,
    **window: object,
) -> ExitCode:
    """Build models' tables on Spark, copy and check others, and record it.

    SELECTOR is a model's name, `+model` with all it reads, `model+` with all its readers,
    `tag:KEY=VALUE`, `path:FOLDER` and more; without one, every pipeline runs, each after those it
    depends on.
    """
    if resume is not None and resume_latest:
        raise click.UsageError("`--resume` and `--resume-latest` exclude each other")
    if idempotency_key is not None and not idempotency_key.strip():
        raise click.UsageError("`--idempotency-key` is empty")
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
        filters=tuple(filters),
        resume=LATEST if resume_latest else resume,
        idempotency_key=idempotency_key,
    )
    compilation = compile_chosen(settings)
    names = pipelines_to_run(compilation.project, request)
    with _listener(settings) as listener:
        means = Means(
            state_path(settings),
            observe_circumstances(compilation.project.root, os.environ),
            os.environ,
            listener,
            synced=sync_listener(settings),
            warn=lambda warning: write_note(f"warning: {warning}"),
        )
        if len(names) == 1:
            return _Invocation(settings, compilation, request, means).run(names[0]).tell()
        several = [name for name in names if name is not None]
        return _run_all(settings, compilation, request, means, several)


@dataclass(frozen=True, slots=True)
class _Ran:
    """What came of one run, as it is shown."""

    settings: Settings
    text: str
    document: dict[str, Any]
    notes: Sequence[str]
    code: ExitCode
    is_done: bool = True
    """Whether its tables are as they shall be, for those that read them."""

    def tell(self) -> ExitCode:
        if self.settings.json:
            write_json("run", self.document)
        else:
            write_line(self.text)
        for note in self.notes:
            write_note(note)
        return self.code


@dataclass(frozen=True, slots=True)
class _Invocation:
    """What was asked for, to be run pipeline by pipeline."""

    settings: Settings
    compilation: Compilation
    request: RunRequest
    means: Means

    def run(self, name: str | None) -> _Ran:
        """Run one pipeline, or the selected models where there is no name."""
        try:
            return self._run_models() if name is None else self._run_pipeline(name)
        except RunSkipped as skipped:
            status = "SkippedInFlight" if skipped.in_flight else "SkippedIdempotent"
            document = {"status": status, "idempotency_key": skipped.key}
            if skipped.run_id:
                document["skipped_by_run_id"] = skipped.run_id
            return _Ran(
                self.settings,
                str(skipped),
                document,
                (),
                ExitCode.OK,
                is_done=not skipped.in_flight,
            )

    def run_or_fail(self, name: str | None) -> _Ran:
        """As `run`, for one of several: an error is this pipeline's, and the others go on."""
        try:
            return self.run(name)
        except RockyError as failure:
            message = describe_failure(failure)
            error = {"kind": type(failure).__name__, "message": message}
            return _Ran(
                self.settings,
                "",
                {"status": "Failure", "error": error},
                (f"error: pipeline `{self.request.pipeline}`: {message}",),
                ExitCode.FAILED,
                is_done=False,
            )

    def _run_models(self) -> _Ran:
        plan = plan_request(self.compilation, self.request)
        refuse_errors(self.settings, self.compilation, refusing_findings(plan))
        for setting in settings_without_effect(plan):
            write_note(f"warning: {setting} has no effect yet")
        run = load_attribute("rocky.run.project_run", "run_request")
        report: RunReport = run(plan, self.request, self.means)
        return self._ran(report, render_run(report), run_document(report))

    def _run_pipeline(self, name: str) -> _Ran:
        refuse_errors(self.settings, self.compilation, config_findings(self.compilation))
        config = self.compilation.project.config
        if name in config.pipeline:
            for setting in pipeline_settings_without_effect(config, config.pipeline[name]):
                write_note(f"warning: {setting} has no effect yet")
        run = load_attribute("rocky.pipelines.pipeline_run", "run_pipeline")
        report: PipelineReport = run(self.compilation, name, self.request, self.means)
        return self._ran(report.run, render_pipeline(report), pipeline_document(report))

    def _ran(self, report: RunReport, text: str, document: dict[str, Any]) -> _Ran:
        notes = [*(f"warning: {each}" for each in report.warnings), *describe_budget(report)]
        code = ExitCode(report.exit_code)
        return _Ran(self.settings, text, document, notes, code, is_done=code is ExitCode.OK)


def _run_all(
    settings: Settings,
    compilation: Compilation,
    request: RunRequest,
    means: Means,
    names: Sequence[str],
) -> ExitCode:
    """Run several pipelines, each after those it depends on; one that failed withholds its own."""
    refuse_errors(settings, compilation, config_findings(compilation))
    pipelines = compilation.project.config.pipeline
    documents: list[dict[str, Any]] = []
    ended: dict[str, _Ran] = {}
    for name in names:
        ran = _withheld(
            settings, name, [(each, ended.get(each)) for each in pipelines[name].depends_on]
        )
        if ran is None:
            key = key_of_pipeline(request.idempotency_key, name)
            own = replace(request, pipeline=name, idempotency_key=key)
            invocation = _Invocation(settings, compilation, own, means)
            ran = invocation.run_or_fail(None if is_of_models(pipelines[name]) else name)
        ended[name] = ran
        documents.append({"pipeline": name, **ran.document})
        if ran.text and not settings.json:
            write_line(f"pipeline {name}")
            write_line(ran.text + "\n")
        for note in ran.notes:
            write_note(note)
        if ran.code is ExitCode.INTERRUPTED:
            break
    if settings.json:
        write_json("run", {"pipelines": documents})
    return _worst([ran.code for ran in ended.values()])


def _withheld(
    settings: Settings, name: str, needed: Sequence[tuple[str, _Ran | None]]
) -> _Ran | None:
    """What is shown of a pipeline that is not run because of those it depends on; None if it is."""
    for other, ran in needed:
        if ran is None or ran.is_done:
            continue
        word, how, code = "error", "failed", ExitCode.FAILED
        if ran.code is ExitCode.OK:
            # Under the same key somebody else runs both, one after the other.
            word, how, code = "note", "another run is at work on", ExitCode.OK
        why = f"waits for pipeline `{other}`, which {how}"
        note = f"{word}: pipeline `{name}` was not run: it {why}"
        document = {"status": "Skipped", "reason": why}
        return _Ran(settings, "", document, (note,), code, is_done=False)
    return None


def _worst(codes: Sequence[ExitCode]) -> ExitCode:
    if ExitCode.INTERRUPTED in codes:
        return ExitCode.INTERRUPTED
    if all(code is ExitCode.OK for code in codes):
        return ExitCode.OK
    if all(code is ExitCode.FAILED for code in codes):
        return ExitCode.FAILED
    return ExitCode.PARTIAL


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
