"""Refusals: findings and requests for which a run must not start.

Nothing is written unless all that was selected, and all it stands on, compiled: an error in a model
further up means that the types below it are guesses. Who asks to keep going gets the models that
stand on no error. A request that one of several pipelines cannot carry out is refused as a whole.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import reach_models
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.errors import RunRefused
from rocky.plan.declaring_files import DeclaringFiles
from rocky.plan.request import NO_WINDOW, RunRequest, plan_request
from rocky.plan.steps import LeftOutStep, RunPlan, plan_steps
from rocky.project import setting_place
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
)


def refusing_findings(plan: RunPlan) -> tuple[Diagnostic, ...]:
    """The errors in the selected models, in what they read, and in `rocky.toml`."""
    compilation = plan.compilation
    wanted, files = _stands_on(plan), DeclaringFiles(compilation)
    paths = {*files.of_settings(), *(path for key in wanted for path in files.of(key))}
    found = [
        each
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR
        and (
            _key_of(compilation, each) in wanted
            or (_key_of(compilation, each) is None and each.path in paths)
            or (
                # A clash of two models is reported at one of them and concerns both.
                each.code is Code.DUPLICATE_TARGET
                and any(label.path in paths for label in each.labels)
            )
        )
    ]
    if plan.cycle and not any(each.code is Code.DEPENDENCY_CYCLE for each in found):
        found.append(_waiting_for_each_other(plan))
    return tuple(found)


def _key_of(compilation: Compilation, found: Diagnostic) -> str | None:
    """What a finding names; None where only its file says whom it concerns.

    A model whose settings have another name for it goes by that of its file in what is wrong there.
    """
    key, project = (found.model or "").lower(), compilation.project
    known = key in project.models or key in project.sources or key in project.seeds
    return key if known else None


def _stands_on(plan: RunPlan) -> set[str]:
    """The keys of the models, seeds and sources that are built or read, however far up."""
    models = plan.project.models
    names = [models[step.key].name for step in plan.steps if step.kind != "seed"]
    above = {name.lower() for name in reach_models(plan.compilation.upstream, names)}
    return above | {step.key for step in plan.steps if step.kind == "seed"}


def plan_checked(
    compilation: Compilation, request: RunRequest
) -> tuple[RunPlan, tuple[Diagnostic, ...]]:
    """The steps a request asks for, and the errors for which they must not be taken.

    Who asks to keep going gets the steps that stand on no error, unless there are none, or the
    error is in `rocky.toml` or a cycle. Raises NothingSelected.
    """
    plan = plan_request(compilation, request)
    found = refusing_findings(plan)
    if not found or not request.keep_going or plan.cycle or config_findings(compilation):
        return plan, found
    rest = _without_errors(plan, found)
    return (rest, ()) if rest.steps else (plan, found)


def errors_since(
    before: Compilation, now: Compilation, request: RunRequest
) -> tuple[Diagnostic, ...]:
    """The errors for which a request must not be carried out now, and that it did not have before.

    Who asked to keep going has asked so of the errors there were.
    """
    known = {_said(each) for each in refusing_findings(plan_request(before, request))}
    found = refusing_findings(plan_request(now, request))
    return tuple(each for each in found if _said(each) not in known)


def _said(found: Diagnostic) -> tuple[Code, str | None, str]:
    return found.code, found.model, found.message


def _without_errors(plan: RunPlan, found: Sequence[Diagnostic]) -> RunPlan:
    """The plan without the models that have these errors, and without all that stands on them."""
    broken = _broken_keys(plan, found)
    left: dict[str, LeftOutStep] = {}
    for step in plan.steps:
        causes = [left[each] for each in step.after if each in left]
        if step.key in broken:
            left[step.id] = LeftOutStep(step, broken[step.key])
        elif causes:
            first = {each.id: each for it in causes for each in it.blocked_by or (it.step,)}
            left[step.id] = LeftOutStep(step, blocked_by=tuple(first.values()))
    keys = [step.key for step in plan.selected if step.id not in left]
    rest = plan_steps(plan.compilation, keys)
    # What was not asked for is there to say why something that was is left out.
    named = {each.id for it in left.values() for each in it.blocked_by if it.step.selected}
    kept = [each for each in left.values() if each.step.selected or each.step.id in named]
    return replace(rest, left_out=tuple(kept))


def _broken_keys(plan: RunPlan, found: Sequence[Diagnostic]) -> dict[str, Diagnostic]:
    """What has errors itself, or reads what is no step and has; each with its first error."""
    at: dict[str, list[str]] = {}
    files = DeclaringFiles(plan.compilation)
    for key in _stands_on(plan):
        for path in files.of(key):
            at.setdefault(path, []).append(key)
    broken: dict[str, Diagnostic] = {}
    for each in found:
        named = _key_of(plan.compilation, each)
        keys = at.get(each.path or "", []) if named is None else [named]
        if each.code is Code.DUPLICATE_TARGET:
            keys = [*keys, *(key for label in each.labels for key in at.get(label.path or "", []))]
        for key in keys:
            broken.setdefault(key, each)
    readers = {name.lower(): read_by for name, read_by in plan.compilation.downstream.items()}
    steps = {step.key for step in plan.steps}
    reached = dict(broken)
    waiting = list(broken)
    # A step comes after the steps it reads; only what is no step must be looked through.
    for key in waiting:
        for reader in map(str.lower, readers.get(key, ())):
            if reader not in steps or key not in steps:
                broken.setdefault(reader, reached[key])
            if reader not in reached:
                reached[reader] = reached[key]
                waiting.append(reader)
    return broken


def config_findings(compilation: Compilation) -> tuple[Diagnostic, ...]:
    """The errors in `rocky.toml` and what its checks call, for which no pipeline may start."""
    paths = set(DeclaringFiles(compilation).of_settings())
    return tuple(
        each
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR and each.model is None and each.path in paths
    )


def _waiting_for_each_other(plan: RunPlan) -> Diagnostic:
    """A cycle that only `depends_on` closes: no query reads in a circle, so nobody found it."""
    models = [plan.project.models[key] for key in plan.cycle if key in plan.project.models]
    listed = ", ".join(f"`{model.name}`" for model in models)
    path, span = setting_place(models[0], plan.project.texts, ("depends_on",))
    return Diagnostic(
        Code.DEPENDENCY_CYCLE,
        f"{listed} form a cycle through `depends_on`",
        span,
        path,
        help="remove one of the names in `depends_on`",
        model=models[0].name,
    )


def refuse_errors(plan: RunPlan) -> None:
    """Raises RunRefused when the selection, or what it reads, has errors."""
    found = refusing_findings(plan)
    if found:
        models = sorted({each.model for each in found if each.model is not None})
        where = f" (in {', '.join(f'`{name}`' for name in models[:5])})" if models else ""
        count = f"{len(found)} error{'s' if len(found) > 1 else ''}"
        raise RunRefused(
            f"{count} in the selection or in what it reads{where}: nothing was run; "
            "`rocky compile` shows them"
        )


_SELECTION: Final = "a selection of models"
_FILTER: Final = "`--filter`"
_RESUME: Final = "`--resume`"
_FULL_REFRESH: Final = "`--full-refresh`"
_REBUILD: Final = "`--force-rebuild`"
_WINDOW: Final = "a window of time"


class _Unsupported(NamedTuple):
    """What a type of pipeline does, and the options that it does not support."""

    does: str
    options: tuple[str, ...]


_UNSUPPORTED: Final = {
    ReplicationPipeline: _Unsupported("copies tables", (_SELECTION, _WINDOW)),
    QualityPipeline: _Unsupported(
        "only checks tables", (_SELECTION, _FILTER, _RESUME, _FULL_REFRESH, _WINDOW)
    ),
    LoadPipeline: _Unsupported(
        "only loads files, each once unless `--full-refresh` says otherwise",
        # Nothing that was loaded is reused, so `--no-reuse` needs no refusal.
        (_SELECTION, _FILTER, _WINDOW, _REBUILD),
    ),
    SnapshotPipeline: _Unsupported("follows one table", (_SELECTION, _FILTER, _RESUME, _WINDOW)),
}


def refuse_unsupported(name: str, pipeline: Pipeline, request: RunRequest) -> None:
    """Raises RunRefused for options of a run that this type of pipeline does not support."""
    unsupported = _UNSUPPORTED.get(type(pipeline))
    if unsupported is None:
        return
    asked = {
        _SELECTION: request.select or request.exclude,
        _FILTER: request.filters,
        _RESUME: request.resume,
        _FULL_REFRESH: request.full_refresh,
        _REBUILD: request.rebuild,
        _WINDOW: request.window != NO_WINDOW,
    }
    said = ", ".join(words for words in unsupported.options if asked[words])
    if said:
        raise RunRefused(
            f"pipeline `{name}` {unsupported.does}: it does not support {said}; leave that out,"
            f" or name a pipeline that does with `--pipeline`"
        )
