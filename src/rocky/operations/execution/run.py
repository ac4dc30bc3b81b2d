"""Runs: tables brought up to date, of models, of one pipeline, or of all pipelines in order.

Errors in what was selected, or in what it reads, stop a run before Spark starts. A promotion that
was interrupted is finished or undone first. Of several pipelines each is a run of its own; one
whose input failed is not run, and the others are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self

from rocky.analysis.compilation import Compilation
from rocky.errors import PromotionUnfinished, RockyError, RunSkipped, describe_failure
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.execution.pipeline_report import PipelineRun, report_pipeline
from rocky.operations.execution.run_report import ModelsRun, report_models
from rocky.operations.findings import Finding, refuse_errors
from rocky.operations.pipeline_tables import see_pipelines
from rocky.operations.pipelines.choice import (
    LONE_MODELS,
    is_of_models,
    key_of_pipeline,
    pipelines_to_run,
)
from rocky.operations.pipelines.order import Needs, find_mutual, needed_first, needs_of
from rocky.operations.python_plans import compile_analysed
from rocky.operations.report import flat, hidden
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    compile_workspace,
    known_branch,
    state_path,
)
from rocky.plan.kept_plan import PlanApplication
from rocky.plan.refusals import config_findings, errors_since, plan_checked
from rocky.plan.request import RunRequest, refuse_contradictions
from rocky.project.configuration.hooks import NO_HOOKS
from rocky.run.outcomes import RunResult
from rocky.run.prepare.caller import Caller

Tell = Callable[[RunResult], RunResult]
"""Tells of a run's end, and adds to its result what came of telling."""

_OK, _FAILED, _PARTIAL, _INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRun:
    """No run: one under the same idempotency key was made, or is running."""

    status: Literal["SkippedIdempotent", "SkippedInFlight"]
    idempotency_key: str
    skipped_by_run_id: str | None = None
    message: str = hidden()
    exit_code = _OK
    succeeded = True

    @property
    def is_done(self) -> bool:
        """Whether the tables are as they shall be: another run may be writing them."""
        return self.status == "SkippedIdempotent"


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: the condition by its name, in words, and the findings it is for."""

    kind: str
    message: str
    diagnostics: Sequence[Finding] = ()


@dataclass(frozen=True, slots=True)
class FailedPipeline:
    """One of several pipelines that could not be run at all."""

    status: Literal["Failure"]
    error: Failure
    failure: RockyError = hidden()
    exit_code = _FAILED
    is_done = succeeded = False


@dataclass(frozen=True, slots=True)
class WithheldPipeline:
    """One of several pipelines that was not run because of one it depends on.

    That may have failed; or somebody else runs both, under the same key, one after the other.
    """

    status: Literal["Skipped"]
    reason: str
    exit_code: int = hidden()
    is_done = succeeded = False


OneRun = ModelsRun | PipelineRun | SkippedRun
"""What came of one run."""
Ending = OneRun | FailedPipeline | WithheldPipeline
"""What became of one of several pipelines."""


@dataclass(frozen=True, slots=True)
class PipelineEnding:
    """A pipeline and its result."""

    pipeline: str
    ending: Ending = flat(without=("pipeline",))


@dataclass(frozen=True, slots=True, repr=False)
class RunReport(Digested):
    """The results of a request: of one run, or of several pipelines in the order they were run."""

    run: OneRun | None = flat()
    pipelines: tuple[PipelineEnding, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether all that was asked for was done, within the budgets that are errors."""
        return all(each.succeeded for each in self._endings)

    @property
    def exit_code(self) -> int:
        """0 all fine, 1 all failed, 2 some of several, 130 interrupted."""
        codes = [each.exit_code for each in self._endings]
        if len(set(codes)) == 1:
            return codes[0]
        return _INTERRUPTED if _INTERRUPTED in codes else _PARTIAL

    @property
    def _endings(self) -> list[Ending]:
        return [each.ending for each in self.pipelines] if self.run is None else [self.run]

    def digest(self) -> Digest:
        if isinstance(self.run, Digested):
            return self.run.digest()
        if self.run is not None:
            return Digest(self.run.message)
        rows = [(each.pipeline, *_said(each.ending)) for each in self.pipelines]
        title = f"{counts(pipeline=len(rows))}, exit code {self.exit_code}"
        return Digest(title, ("pipeline", "status", "what came of it"), rows, len(rows))


def _said(ending: Ending) -> tuple[str, str]:
    """The status of one of several pipelines, and a sentence."""
    match ending:
        case ModelsRun() | PipelineRun():
            run = ending if isinstance(ending, ModelsRun) else ending.run
            return run.status.value, ending.digest().title
        case FailedPipeline():
            return ending.status, ending.error.message
        case WithheldPipeline():
            return ending.status, ending.reason
        case SkippedRun():
            return ending.status, ending.message


def run(
    workspace: Workspace,
    request: RunRequest,
    *,
    ended: Callable[[PipelineEnding], None] = lambda _: None,
) -> RunReport:
    """Carry out a request; a table that fails is in the report, not raised.

    `ended` hears of each of several pipelines as it ends. Raises InvalidRequest, NothingSelected,
    ErrorsFound, RunRefused, and what else keeps a run from starting.
    """
    refuse_contradictions(request)
    workspace = known_branch(workspace)
    return run_compiled(
        workspace, compile_workspace(workspace, asker="person"), request, ended=ended
    )


def run_compiled(
    workspace: Workspace,
    compilation: Compilation,
    request: RunRequest,
    *,
    application: PlanApplication | None = None,
    ended: Callable[[PipelineEnding], None] = lambda _: None,
) -> RunReport:
    """The same for a project that is compiled; nothing of it is read again.

    `application` is the kept plan that is carried out, if one is.
    """
    project = compilation.project
    names = pipelines_to_run(compilation, request)
    if project.config.evidence.seal != "never":
        from rocky.operations.proof.seal import refuse_unsealable  # noqa: PLC0415

        refuse_unsealable(workspace, project)
    if project.config.governance.catalog.kind != "none":
        from rocky.operations.execution.governed_run import refuse_ungovernable  # noqa: PLC0415

        refuse_ungovernable(compilation)
    caller = caller_of(workspace, project, state_path(workspace))
    invocation = _Invocation(
        workspace, compilation, request, caller, application, needs_of(compilation)
    )
    if len(names) == 1:
        return RunReport(invocation.run(names[0]))
    refuse_errors(compilation, config_findings(compilation))
    mutual = find_mutual(invocation.needs)
    if mutual:
        listed = ", ".join(f"`{each or LONE_MODELS}`" for each in mutual)
        workspace.warn(
            f"pipelines read from each other: {listed}; what comes first reads what the last run"
            " left; give models that read such tables a pipeline of their own"
        )
    endings: dict[str | None, PipelineEnding] = {}
    for name in names:
        invocation = invocation.look_again(name, endings)
        ending = invocation.run_in_turn(name, endings)
        endings[name] = PipelineEnding(name or LONE_MODELS, ending)
        ended(endings[name])
        if endings[name].ending.exit_code == _INTERRUPTED:
            break
    return RunReport(None, tuple(endings.values()))


@dataclass(frozen=True, slots=True)
class _Invocation:
    """What was asked for, to be run pipeline by pipeline."""

    workspace: Workspace
    compilation: Compilation
    request: RunRequest
    caller: Caller
    application: PlanApplication | None
    needs: Needs
    seen: Compilation | None = None

    def look_again(self, name: str | None, before: Mapping[str | None, PipelineEnding]) -> Self:
        """The same, with what the pipelines that ran before have written seen by the models.

        A kept plan is carried out as it was made; what is `seen` now only decides whether it is.
        """
        project = self.compilation.project
        of_models = name is None or is_of_models(project.config.pipeline[name])
        others = (each for each in before if each is not None)
        wrote = any(not is_of_models(project.config.pipeline[each]) for each in others)
        if not of_models or not wrote:
            return self
        seen = compile_analysed(see_pipelines(project), "person")
        return (
            replace(self, compilation=seen)
            if self.application is None
            else replace(self, seen=seen)
        )

    def run_in_turn(self, name: str | None, before: Mapping[str | None, PipelineEnding]) -> Ending:
        """Run one of several pipelines: an error does not stop the others."""
        pipelines = self.compilation.project.config.pipeline
        wanted = {
            *(() if name is None else pipelines[name].depends_on),
            *needed_first(self.needs, name),
        }
        withheld = _withheld([before[each] for each in before if each in wanted])
        if withheld is not None:
            return withheld
        key = key_of_pipeline(self.request.idempotency_key, name)
        request = replace(self.request, pipeline=name, idempotency_key=key)
        try:
            of_models = name is None or is_of_models(pipelines[name])
            return replace(self, request=request).run(None if of_models else name)
        except RockyError as failure:
            kind, found = type(failure).__name__, failure.diagnostics
            said = Failure(kind, describe_failure(failure), found)
            return FailedPipeline("Failure", said, failure)

    def run(self, name: str | None) -> OneRun:
        """Run one pipeline, or the selected models where there is no name."""
        try:
            return self._run(name)
        except PromotionUnfinished:
            if self.application is not None:
                # What a plan was made for is not what will be there.
                raise
            # Only who finds one pays for what finishes it.
            from rocky.operations.branch.promotion import recover_before_run  # noqa: PLC0415

            recover_before_run(self.workspace, self.compilation.project)
            return self._run(name)

    def _run(self, name: str | None) -> OneRun:
        try:
            return self._run_told(name)
        except RunSkipped as skipped:
            status: Literal["SkippedIdempotent", "SkippedInFlight"] = "SkippedIdempotent"
            if skipped.in_flight:
                status = "SkippedInFlight"
            return SkippedRun(
                status=status,
                idempotency_key=skipped.key,
                skipped_by_run_id=skipped.run_id or None,
                message=str(skipped),
            )

    def _run_told(self, name: str | None) -> ModelsRun | PipelineRun:
        work: Callable[[Caller, Tell], ModelsRun | PipelineRun] = self._run_models
        if name is not None:
            work = partial(self._run_pipeline, name)
        pipeline = self.request.pipeline if name is None else name
        caller = self._caller_of(pipeline)
        project = self.compilation.project
        if project.config.hook == NO_HOOKS:
            return work(caller, lambda result: result)
        # Only who has hooks pays for what calls them.
        from rocky.operations.execution.hooks import run_with_hooks  # noqa: PLC0415

        return run_with_hooks(self.workspace, project, caller, pipeline, work)

    def _run_models(self, caller: Caller, tell: Tell) -> ModelsRun:
        plan, errors = plan_checked(self.compilation, self.request)
        refuse_errors(self.compilation, errors)
        if self.seen is not None:
            found = errors_since(self.compilation, self.seen, self.request)
            refuse_errors(self.seen, found)
        if self.compilation.project.config.governance.catalog.kind != "none":
            from rocky.operations.execution.governed_run import guard_run  # noqa: PLC0415

            guard_run(self.workspace, plan)
        # Here, and so is the next: what is refused before pays for nothing that builds tables.
        from rocky.run.project_run import run_request  # noqa: PLC0415

        result = run_request(plan, self.request, caller)
        self._note(result)
        sealed = self._sealed(result, self.compilation)
        return report_models(tell(sealed), self.compilation.project.texts)

    def _run_pipeline(self, name: str, caller: Caller, tell: Tell) -> PipelineRun:
        refuse_errors(self.compilation, config_findings(self.compilation))
        from rocky.pipelines.pipeline_run import run_pipeline  # noqa: PLC0415

        result = run_pipeline(self.compilation, name, self.request, caller)
        self._note(result.run)
        # What it has written may be tables of which nobody knew.
        seen = replace(self.compilation, project=see_pipelines(self.compilation.project))
        return report_pipeline(replace(result, run=tell(self._sealed(result.run, seen))))

    def _sealed(self, result: RunResult, compilation: Compilation) -> RunResult:
        """The result once the catalogue was told of it, and the seal that covers that too."""
        from rocky.operations.proof.seal import seal_run  # noqa: PLC0415

        project = compilation.project
        if project.config.governance.catalog.kind != "none":
            from rocky.operations.execution.governed_run import govern_run  # noqa: PLC0415

            result = govern_run(self.workspace, compilation, result)
        return seal_run(self.workspace, project, result)

    def _caller_of(self, pipeline: str | None) -> Caller:
        if self.application is None:
            return self.caller
        return replace(self.caller, applied=self.application.for_run(pipeline))

    def _note(self, result: RunResult) -> None:
        if self.application is not None:
            executions = (each.execution for each in result.outcomes)
            self.application.note(each.target for each in executions if each.commits)


def _withheld(needed: Sequence[PipelineEnding]) -> WithheldPipeline | None:
    """Why a pipeline is not run, because of those it depends on; None if it is."""
    for each in needed:
        if each.ending.is_done:
            continue
        waits = each.ending.exit_code == _OK
        how = "another run is using" if waits else "failed"
        reason = f"waits for pipeline `{each.pipeline}`, which {how}"
        return WithheldPipeline("Skipped", reason, _OK if waits else _FAILED)
    return None
