"""Refusals: findings and requests for which a run must not start, and settings without effect.

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
from rocky.project import ModelFile, SeedTable, setting_place
from rocky.project.configuration.config import DEFAULT_CONFIG, Config
from rocky.project.configuration.pipelines import (
    Execution,
    Governance,
    LoadPipeline,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
    TransformationPipeline,
)
from rocky.project.configuration.strategies import ContentAddressed


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


def _seed_paths(seed: SeedTable) -> set[str]:
    return {path for path in (seed.path, seed.file, seed.sidecar_path) if path}


def _waiting_for_each_other(plan: RunPlan) -> Diagnostic:
    """A cycle that only `depends_on` closes: no query reads in a circle, so nobody found it."""
    models = [plan.project.models[key] for key in plan.cycle if key in plan.project.models]
    listed = ", ".join(f"`{model.name}`" for model in models)
    path, span = setting_place(models[0], plan.project.texts, ("depends_on",))
    return Diagnostic(
        Code.DEPENDENCY_CYCLE,
        f"{listed} wait for each other",
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


_NO_GOVERNANCE: Final = Governance()
_NO_EXECUTION: Final = Execution()

_SELECTION: Final = "a selection of models"
_FILTER: Final = "`--filter`"
_RESUME: Final = "`--resume`"
_FULL_REFRESH: Final = "`--full-refresh`"
_REBUILD: Final = "`--force-rebuild`"
_WINDOW: Final = "a window of time"


class _Unsupported(NamedTuple):
    """What a type of pipeline does, and what can therefore not be asked of it."""

    does: str
    ignores: tuple[str, ...]


_UNSUPPORTED: Final = {
    ReplicationPipeline: _Unsupported("copies tables", (_SELECTION, _WINDOW)),
    QualityPipeline: _Unsupported(
        "only checks tables", (_SELECTION, _FILTER, _RESUME, _FULL_REFRESH, _WINDOW)
    ),
    LoadPipeline: _Unsupported(
        "only loads files, each once unless `--full-refresh` says otherwise",
        # Nothing that was loaded is reused, so `--no-reuse` is heeded as it is.
        (_SELECTION, _FILTER, _WINDOW, _REBUILD),
    ),
    SnapshotPipeline: _Unsupported("follows one table", (_SELECTION, _FILTER, _RESUME, _WINDOW)),
}

_UNUSED_EXECUTION: Final = {
    # Its models are tried again as `[resilience]` says, and `--parallel` says how many at once.
    TransformationPipeline: Execution._fields,
    QualityPipeline: ("concurrency", "fail_fast", "error_rate_abort_pct"),
    # There is one table.
    SnapshotPipeline: ("concurrency", "fail_fast", "error_rate_abort_pct"),
}


def refuse_unsupported(name: str, pipeline: Pipeline, request: RunRequest) -> None:
    """Raises RunRefused for whatever is asked of a run that this pipeline cannot heed."""
    deafness = _UNSUPPORTED.get(type(pipeline))
    if deafness is None:
        return
    asked = {
        _SELECTION: request.select or request.exclude,
        _FILTER: request.filters,
        _RESUME: request.resume,
        _FULL_REFRESH: request.full_refresh,
        _REBUILD: request.rebuild,
        _WINDOW: request.window != NO_WINDOW,
    }
    said = ", ".join(words for words in deafness.ignores if asked[words])
    if said:
        raise RunRefused(
            f"pipeline `{name}` {deafness.does}: it does not know {said}; leave that out, or name"
            " a pipeline that does with `--pipeline`"
        )


def settings_without_effect(plan: RunPlan) -> list[str]:
    """What the project, a pipeline or a selected model asks for and a run does not do."""
    config = plan.project.config
    found = list(_of_project(config))
    models = [plan.project.models[step.key] for step in plan.selected if step.kind != "seed"]
    for name in dict.fromkeys(model.pipeline for model in models):
        pipeline = config.pipeline.get(name or "")
        if pipeline is not None:
            found += (f"{each} of pipeline `{name}`" for each in _of_pipeline(pipeline))
    for model in models:
        found += _of_model(model)
    return found


def pipeline_settings_without_effect(config: Config, pipeline: Pipeline) -> list[str]:
    """What the project or a pipeline asks for and its run does not do."""
    return [*_of_project(config), *_of_pipeline(pipeline)]


def _of_pipeline(pipeline: Pipeline) -> Iterator[str]:
    if getattr(pipeline.target, "governance", _NO_GOVERNANCE) != _NO_GOVERNANCE:
        yield "`target.governance`"
    if getattr(pipeline, "schedule", None) is not None:
        yield "`schedule`"
    for name in _UNUSED_EXECUTION.get(type(pipeline), ()):
        if getattr(pipeline.execution, name) != getattr(_NO_EXECUTION, name):
            yield f"`execution.{name}`"


def _of_project(config: Config) -> Iterator[str]:
    for name in ("mask", "hook", "run", "role", "schedule"):
        if getattr(config, name) != getattr(DEFAULT_CONFIG, name):
            yield f"`[{name}]`"


def _of_model(model: ModelFile) -> Iterator[str]:
    settings, where = model.settings, f"of model `{model.name}`"
    if settings.format not in (None, "table", "delta_table"):
        yield f'`format = "{settings.format}"` {where}'
    if settings.skip is not None and settings.skip.deterministic and not model.is_python:
        # What makes a query not deterministic is known; nobody has to vouch for it.
        yield f"`skip.deterministic = true` {where}"
    options = settings.format_options
    if options is not None and options.comment:
        yield f"`format_options.comment` {where}"
    if options is not None and options.table_properties:
        yield f"`format_options.table_properties` {where}"
    if isinstance(model.strategy, ContentAddressed) and model.strategy.storage_prefix:
        yield f"`storage_prefix` {where}"
