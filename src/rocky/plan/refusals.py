"""Refusals: findings and requests for which a run must not start.

Nothing is written unless all that was selected, and all it stands on, compiled: an error in a model
further up means that the types below it are guesses. Who asks to keep going gets the models that
stand on no error. A request that one of several pipelines cannot carry out is refused as a whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from rocky.analysis.compilation import Compilation, unpack_body
from rocky.analysis.lineage import reach_models
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.errors import RunRefused
from rocky.plan.request import NO_WINDOW, RunRequest, plan_request
from rocky.plan.steps import LeftOutStep, RunPlan, plan_steps
from rocky.project import SeedTable, setting_place
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
)


def refusing_findings(plan: RunPlan) -> tuple[Diagnostic, ...]:
    """The errors in the selected models, in what they read, and in `rocky.toml`."""
    compilation, project = plan.compilation, plan.project
    wanted = _stands_on(plan)
    paths = {project.config_path, *(path for key in wanted for path in _paths_of(compilation, key))}
    found = [
        each
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR
        and (
            (each.model is not None and each.model.lower() in wanted)
            or (each.model is None and each.path in paths)
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


def _stands_on(plan: RunPlan) -> set[str]:
    """The keys of the models, seeds and sources that are built or read, however far up."""
    models = plan.project.models
    names = [models[step.key].name for step in plan.steps if step.kind != "seed"]
    above = {name.lower() for name in reach_models(plan.compilation.upstream, names)}
    return above | {step.key for step in plan.steps if step.kind == "seed"}


def _paths_of(compilation: Compilation, key: str) -> Iterator[str]:
    """The files that say what a model, seed or source is, and what the functions are it calls."""
    project = compilation.project
    if project.functions and key in compilation.models:
        yield from _function_paths(compilation, key)
    if key in project.models:
        model = project.models[key]
        yield model.path
        if model.settings_path:
            yield model.settings_path
        yield from _defaults_above(model.path)
    if key in project.sources:
        yield project.sources[key].file
    if key in project.seeds:
        yield from _seed_paths(project.seeds[key])


def _function_paths(compilation: Compilation, key: str) -> Iterator[str]:
    functions = compilation.project.functions
    for name, _ in unpack_body(compilation.models.record(key)).functions:
        function = functions[name]
        yield function.signature.path
        yield from (functions[each].signature.path for each in function.calls)


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
    for key in _stands_on(plan):
        for path in _paths_of(plan.compilation, key):
            at.setdefault(path, []).append(key)
    broken: dict[str, Diagnostic] = {}
    for each in found:
        keys = at.get(each.path or "", []) if each.model is None else [each.model.lower()]
        if each.code is Code.DUPLICATE_TARGET:
            keys = [*keys, *(key for label in each.labels for key in at.get(label.path or "", []))]
        for key in keys:
            broken.setdefault(key, each)
    readers = {name.lower(): read_by for name, read_by in plan.compilation.downstream.items()}
    steps = {step.key for step in plan.steps}
    outside = [key for key in broken if key not in steps]
    for key in outside:
        for reader in map(str.lower, readers.get(key, ())):
            if reader not in broken:
                broken[reader] = broken[key]
                outside += [] if reader in steps else [reader]
    return broken


def config_findings(compilation: Compilation) -> tuple[Diagnostic, ...]:
    """The errors in `rocky.toml`, for which no pipeline may start."""
    path = compilation.project.config_path
    return tuple(
        each
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR and each.model is None and each.path == path
    )


def _defaults_above(path: str) -> Iterator[str]:
    """The files that say what a model's folder and those above it have in common."""
    folder = path.rpartition("/")[0]
    while folder:
        yield f"{folder}/_defaults.toml"
        folder = folder.rpartition("/")[0]
    yield "_defaults.toml"


def _seed_paths(seed: SeedTable) -> set[str]:
    return {path for path in (seed.path, seed.file, seed.sidecar_path) if path}


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
