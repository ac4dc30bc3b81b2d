"""A request: what somebody asks a run to do, and the plan that follows from it."""

from dataclasses import dataclass
from typing import Final

from rocky.compiler.compilation import Compilation
from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.plan.selectors import select_models
from rocky.plan.steps import RunPlan, Step, plan_steps
from rocky.project import ModelFile, Project
from rocky.project.adapter import Adapter
from rocky.project.branching import refuse_elsewhere
from rocky.project.patterns import model_patterns
from rocky.run.build import NO_WINDOW, Window

PARALLEL: Final = 4
"""Models at once unless told: enough to fill the gaps between one model's stages."""

LATEST: Final = "latest"
"""To resume the newest run of a pipeline, whatever it is called."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to build and how. Without selectors everything is built.

    `filters` and `resume` are for the tables of pipelines that are no models.
    """

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    pipeline: str | None = None
    parallel: int | None = None
    full_refresh: bool = False
    rebuild: bool = False
    reuse: bool = True
    adapter: str | None = None
    window: Window = NO_WINDOW
    filters: tuple[str, ...] = ()
    resume: str | None = None
    idempotency_key: str | None = None


def plan_request(compilation: Compilation, request: RunRequest) -> RunPlan:
    """The steps a request asks for. Raises NothingSelected."""
    keys = select_models(compilation, request.select, request.exclude)
    if request.pipeline is not None:
        pipelines = compilation.project.config.pipeline
        if request.pipeline not in pipelines:
            hint = suggestion(request.pipeline, pipelines) or "see `[pipeline]` in rocky.toml"
            raise NothingSelected(f"no pipeline `{request.pipeline}`; {hint}")
        models = compilation.project.models
        keys = tuple(key for key in keys if models[key].pipeline == request.pipeline)
        if not keys:
            raise NothingSelected(f"no selected model belongs to pipeline `{request.pipeline}`")
    return plan_steps(compilation, keys)


def choose_adapter(project: Project, plan: RunPlan, name: str | None) -> Adapter:
    """The adapter to run on: the one that is named, else the one its models share.

    Raises NothingSelected when there is none of that name, or when the models differ.
    """
    adapters = project.config.adapter
    if name is None:
        named = {_adapter_of(project, step) for step in plan.selected}
        if len(named) > 1:
            listed = ", ".join(f"`{each}`" for each in sorted(named))
            raise NothingSelected(
                f"the selected models run on different adapters, {listed}: select fewer,"
                " or choose one with `--target`"
            )
        name = named.pop() if named else "default"
        if name == "default" and name not in adapters and len(adapters) == 1:
            return next(iter(adapters.values()))
    if name not in adapters:
        hint = suggestion(name, adapters) or "adapters: " + ", ".join(adapters)
        raise NothingSelected(f"no adapter `{name}`; {hint}")
    refuse_elsewhere(project, adapters[name])
    return adapters[name]


def main_adapter(project: Project, name: str | None = None) -> tuple[str, Adapter]:
    """The adapter that is named, else the one that the models of all pipelines share.

    Raises NothingSelected when there is none of that name, or when there are several.
    """
    adapters = project.config.adapter
    if name is None:
        named = {each.target.adapter for each in project.config.pipeline.values()} & adapters.keys()
        if not named and len(adapters) == 1:
            named = set(adapters)
        if len(named) > 1:
            listed = ", ".join(f"`{each}`" for each in sorted(named))
            raise NothingSelected(
                f"the project's pipelines run on different adapters, {listed}: choose one with"
                " `--target`"
            )
        name = named.pop() if named else "default"
    if name not in adapters:
        hint = suggestion(name, adapters) or "adapters: " + ", ".join(adapters)
        raise NothingSelected(f"no adapter `{name}`; {hint}")
    return name, adapters[name]


def _adapter_of(project: Project, step: Step) -> str:
    return adapter_of(project, None if step.kind == "seed" else project.models[step.key])


def adapter_of(project: Project, model: ModelFile | None) -> str:
    """The name of the adapter that a model runs on; without a model, that of the seeds."""
    if model is None:
        # A seed belongs to no pipeline: it goes where the first one's models go.
        owner = model_patterns(project.config)[0].pipeline
    elif model.settings.adapter is not None:
        return model.settings.adapter
    else:
        owner = model.pipeline
    pipeline = project.config.pipeline.get(owner or "")
    return pipeline.target.adapter if pipeline is not None else "default"
