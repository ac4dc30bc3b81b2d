"""Which pipelines one invocation runs, in which order.

Selected models mean a run of models alone. Otherwise every pipeline of the project runs, each after
those its `depends_on` names and those whose tables it reads, and each is a run of its own; models
that belong to no pipeline are one more. Options that one of them does not
support are refused before the first begins.
"""

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.pipelines.order import has_lone_models, in_order, needs_of
from rocky.plan.refusals import refuse_unsupported
from rocky.plan.request import RunRequest
from rocky.project import Project
from rocky.project.configuration.pipelines import (
    Pipeline,
    ReplicationPipeline,
    TransformationPipeline,
)

LONE_MODELS = "models"
"""What models that belong to no pipeline are called among pipelines."""


def pipelines_to_run(compilation: Compilation, request: RunRequest) -> tuple[str | None, ...]:
    """The names of the pipelines to run; None stands for models.

    Alone they are those that were selected, among others those that belong to no pipeline.
    Raises NothingSelected, RunRefused, InvalidRequest.
    """
    project = compilation.project
    pipelines = project.config.pipeline
    if request.pipeline is not None:
        pipeline = pipelines.get(request.pipeline)
        if pipeline is None:
            hint = suggestion(request.pipeline, pipelines) or "see `[pipeline]` in rocky.toml"
            raise NothingSelected(f"no pipeline `{request.pipeline}`; {hint}")
        if isinstance(pipeline, TransformationPipeline):
            _refuse_table_options(request)
            return (None,)
        _refuse_model_options(request, request.pipeline)
        refuse_unsupported(request.pipeline, pipeline, request)
        return (request.pipeline,)
    others = [name for name, each in pipelines.items() if not is_of_models(each)]
    if request.select or request.exclude or not others:
        _refuse_table_options(request)
        return (None,)
    if request.filters or request.resume:
        if len(others) == 1:
            refuse_unsupported(others[0], pipelines[others[0]], request)
            return (others[0],)
        raise InvalidRequest(
            "`--filter` and `--resume` need one pipeline: name it with `--pipeline`"
        )
    lone = has_lone_models(project)
    names = in_order(pipelines, needs_of(compilation), lone_models=lone)
    for name in names:
        if name is not None:
            refuse_unsupported(name, pipelines[name], request)
    return names


def key_of_pipeline(key: str | None, name: str | None) -> str | None:
    """The idempotency key of one of several pipelines that were asked for under one."""
    return None if key is None else f"{key}/{name or LONE_MODELS}"


def is_of_models(pipeline: Pipeline) -> bool:
    """Whether a pipeline is a set of models of the project."""
    return isinstance(pipeline, TransformationPipeline)


def _refuse_table_options(request: RunRequest) -> None:
    for option, given in (("--filter", request.filters), ("--resume", request.resume)):
        if given:
            raise InvalidRequest(
                f"`{option}` is for pipelines that copy tables; select models by name; an"
                f" unfinished run of models continues by itself"
            )


def _refuse_model_options(request: RunRequest, name: str) -> None:
    if request.select or request.exclude:
        raise InvalidRequest(
            f"pipeline `{name}` has no models to select; choose its tables with `--filter`"
        )


def replications(project: Project, name: str | None) -> dict[str, ReplicationPipeline]:
    """The pipelines that copy tables, or the one that is named. Raises NothingSelected."""
    found = {
        each: pipeline
        for each, pipeline in project.config.pipeline.items()
        if isinstance(pipeline, ReplicationPipeline)
    }
    if name is None:
        if not found:
            raise NothingSelected("no pipeline of this project copies tables")
        return found
    if name not in found:
        hint = suggestion(name, found) or f"there are {', '.join(f'`{each}`' for each in found)}"
        raise NothingSelected(f"no pipeline `{name}` that copies tables; {hint}")
    return {name: found[name]}
