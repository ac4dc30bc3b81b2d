"""What is asked for and no run acts on: settings are said to have no effect, requests are refused.

A request is refused before anything starts, also when only one of several pipelines cannot heed it:
what the others would do is not what was asked for.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from rocky.errors import RunRefused
from rocky.plan.steps import RunPlan
from rocky.project import ModelFile
from rocky.project.config import DEFAULT_CONFIG, Config
from rocky.project.pipelines import (
    Execution,
    Governance,
    LoadPipeline,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
    TransformationPipeline,
)
from rocky.project.strategies import ContentAddressed
from rocky.run.build import NO_WINDOW
from rocky.run.request import RunRequest

_NO_GOVERNANCE: Final = Governance()
_NO_EXECUTION: Final = Execution()

_SELECTION: Final = "a selection of models"
_FILTER: Final = "`--filter`"
_RESUME: Final = "`--resume`"
_FULL_REFRESH: Final = "`--full-refresh`"
_REBUILD: Final = "`--force-rebuild`"
_WINDOW: Final = "a window of time"


class _Deafness(NamedTuple):
    """What a type of pipeline does, and what can therefore not be asked of it."""

    does: str
    ignores: tuple[str, ...]


_DEAF: Final = {
    ReplicationPipeline: _Deafness("copies tables", (_SELECTION, _WINDOW)),
    QualityPipeline: _Deafness(
        "only checks tables", (_SELECTION, _FILTER, _RESUME, _FULL_REFRESH, _WINDOW)
    ),
    LoadPipeline: _Deafness(
        "only loads files, each once unless `--full-refresh` says otherwise",
        # Nothing that was loaded is reused, so `--no-reuse` is heeded as it is.
        (_SELECTION, _FILTER, _WINDOW, _REBUILD),
    ),
    SnapshotPipeline: _Deafness("follows one table", (_SELECTION, _FILTER, _RESUME, _WINDOW)),
}

_UNHEEDED_EXECUTION: Final = {
    # Its models are tried again as `[resilience]` says, and `--parallel` says how many at once.
    TransformationPipeline: Execution._fields,
    QualityPipeline: ("concurrency", "fail_fast", "error_rate_abort_pct"),
    # There is one table.
    SnapshotPipeline: ("concurrency", "fail_fast", "error_rate_abort_pct"),
}


def refuse_unheeded(name: str, pipeline: Pipeline, request: RunRequest) -> None:
    """Raises RunRefused for whatever is asked of a run that this pipeline cannot heed."""
    deafness = _DEAF.get(type(pipeline))
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
    for name in _UNHEEDED_EXECUTION.get(type(pipeline), ()):
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
