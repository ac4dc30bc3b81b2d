"""Refusals: findings and requests for which a run must not start.

Nothing is written unless all that was selected, and all it stands on, compiled: an error in a model
further up means that the types below it are guesses. A request that one of several pipelines cannot
carry out is refused as a whole.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import reach_models
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.errors import RunRefused
from rocky.plan.request import NO_WINDOW, RunRequest
from rocky.plan.steps import RunPlan
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
    keys = [step.key for step in plan.steps if step.kind != "seed"]
    above = reach_models(compilation.upstream, [project.models[key].name for key in keys])
    wanted = {name.lower() for name in above}
    paths = {project.config_path}
    for step in plan.steps:
        if step.kind == "seed":
            paths.update(_seed_paths(project.seeds[step.key]))
    for key in wanted:
        if key in project.models:
            model = project.models[key]
            paths.update(path for path in (model.path, model.settings_path) if path)
            paths.update(_defaults_above(model.path))
        if key in project.sources:
            paths.add(project.sources[key].file)
        if key in project.seeds:
            paths.update(_seed_paths(project.seeds[key]))
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
