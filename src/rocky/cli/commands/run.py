"""`rocky run`: bring tables up to date, and say what it took.

Compile errors in what was selected, or in what it reads, stop the run before Spark starts.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click

from rocky.analysis.compilation import Compilation
from rocky.cli.console import describe_failure, write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.live import LineListener
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.pipelines import pipeline_document, render_pipeline
from rocky.cli.render.run import describe_budget, render_run, run_document
from rocky.cli.run_options import request_of, run_options
from rocky.errors import PromotionUnfinished, RockyError, RunSkipped
from rocky.lazy import load_attribute
from rocky.operations.pipelines import is_of_models, key_of_pipeline, pipelines_to_run
from rocky.operations.plan.application import PlanApplication
from rocky.operations.refusals import refuse_errors
from rocky.operations.workspace import compile_workspace, state_path
from rocky.pipelines.report import PipelineResult
from rocky.plan.refusals import (
    config_findings,
    pipeline_settings_without_effect,
    refusing_findings,
    settings_without_effect,
)
from rocky.plan.request import RunRequest, plan_request
from rocky.run.outcomes import Listener, RunResult, SilentListener
from rocky.run.prepare.caller import Caller, observe_origin

Publish = Callable[[dict[str, Any]], None]
"""Where the JSON document goes."""


class RunCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True
    takes_branch = True


@click.command("run", cls=RunCommand)
@run_options
@click.pass_obj
def command(settings: Settings, /, **given: Any) -> ExitCode:
    """Build models' tables on Spark, copy and check others, and record it.

    SELECTOR is a model's name, `+model` with all it reads, `model+` with all its readers,
    `tag:KEY=VALUE`, `path:FOLDER` and more; without one, every pipeline runs, each after those it
    depends on.
    """
    request = request_of(given)
    return run_compiled(
        settings, compile_workspace(settings.workspace), request, partial(write_json, "run")
    )


def run_compiled(
    settings: Settings,
    compilation: Compilation,
    request: RunRequest,
    publish: Publish,
    application: PlanApplication | None = None,
) -> ExitCode:
    """Run what is asked for of a project that is compiled; nothing of it is read again.

    `publish` gets the document in JSON mode. `application` is the kept plan that is carried out.
    """
    names = pipelines_to_run(compilation.project, request)
    with _listener(settings) as listener:
        means = Caller(
            state_path(settings.workspace),
            observe_origin(compilation.project.root, os.environ),
            os.environ,
            listener,
            synced=settings.workspace.synced,
            warn=lambda warning: write_note(f"warning: {warning}"),
        )
        invocation = _Invocation(settings, compilation, request, means, application)
        if len(names) == 1:
            return invocation.run(names[0]).tell(publish)
        return _run_all(invocation, [name for name in names if name is not None], publish)


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

    def tell(self, publish: Publish) -> ExitCode:
        if self.settings.json:
            publish(self.document)
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
    means: Caller
    application: PlanApplication | None = None

    def run(self, name: str | None) -> _Ran:
        """Run one pipeline, or the selected models where there is no name."""
        try:
            return self._run(name)
        except PromotionUnfinished:
            if self.application is not None:
                # What a plan was made for is not what will be there.
                raise
            recover = load_attribute("rocky.operations.branch.production", "recover_before_run")
            recover(self.settings, self.compilation.project)
            return self._run(name)

    def _run(self, name: str | None) -> _Ran:
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
        refuse_errors(self.compilation, refusing_findings(plan))
        for setting in settings_without_effect(plan):
            write_note(f"warning: {setting} has no effect yet")
        run = load_attribute("rocky.run.project_run", "run_request")
        report: RunResult = run(plan, self.request, self._means_of(self.request.pipeline))
        return self._ran(report, render_run(report), run_document(report))

    def _run_pipeline(self, name: str) -> _Ran:
        refuse_errors(self.compilation, config_findings(self.compilation))
        config = self.compilation.project.config
        if name in config.pipeline:
            for setting in pipeline_settings_without_effect(config, config.pipeline[name]):
                write_note(f"warning: {setting} has no effect yet")
        run = load_attribute("rocky.pipelines.pipeline_run", "run_pipeline")
        report: PipelineResult = run(self.compilation, name, self.request, self._means_of(name))
        return self._ran(report.run, render_pipeline(report), pipeline_document(report))

    def _means_of(self, pipeline: str | None) -> Caller:
        if self.application is None:
            return self.means
        return replace(self.means, applied=self.application.for_run(pipeline))

    def _ran(self, report: RunResult, text: str, document: dict[str, Any]) -> _Ran:
        if self.application is not None:
            self.application.note(report)
        notes = [*(f"warning: {each}" for each in report.warnings), *describe_budget(report)]
        code = ExitCode(report.exit_code)
        return _Ran(self.settings, text, document, notes, code, is_done=code is ExitCode.OK)


def _run_all(invocation: "_Invocation", names: Sequence[str], publish: Publish) -> ExitCode:
    """Run several pipelines, each after those it depends on; one that failed withholds its own."""
    settings, compilation, request = (
        invocation.settings,
        invocation.compilation,
        invocation.request,
    )
    refuse_errors(compilation, config_findings(compilation))
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
            ran = replace(invocation, request=own).run_or_fail(
                None if is_of_models(pipelines[name]) else name
            )
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
        publish({"pipelines": documents})
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


@contextmanager
def _listener(settings: Settings) -> Iterator[Listener]:
    """Who hears of progress: nobody, a terminal, or a log."""
    if settings.quiet:
        yield SilentListener()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with load_attribute("rocky.cli.live", "LiveListener")(
            no_colour=not settings.colour
        ) as live:
            yield live
    else:
        yield LineListener()
