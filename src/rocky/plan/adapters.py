"""Which adapter something runs on: the one that is named, the one its models share, the only one.

Everything that chooses an adapter chooses it here. A project with one adapter need not name it: it
goes by the name `default` too.
"""

from collections.abc import Set as AbstractSet

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.plan.steps import RunPlan, Step
from rocky.project import ModelFile, Project
from rocky.project.configuration.blocks import DEFAULT_ADAPTER, Adapter, adapter_key
from rocky.project.configuration.config import model_patterns
from rocky.project.configuration.pipelines import Pipeline
from rocky.project.project import require_branch_adapter


def find_adapter(project: Project, name: str) -> Adapter:
    """The adapter of a name. Raises NothingSelected."""
    return project.config.adapter[_key_of(project, name)]


def choose_adapter(project: Project, plan: RunPlan, name: str | None) -> Adapter:
    """The adapter to run on: the one that is named, else the one its models share.

    Raises NothingSelected when there is none of that name, when the models differ, or when the
    project's branch has the tables of another.
    """
    if name is None:
        named = {_step_adapter(project, step) for step in plan.selected}
        name = _agreed(named, "the selected models", "select fewer, or choose one with `--target`")
    key = _key_of(project, name)
    adapter = project.config.adapter[key]
    # The only adapter is the branch's, whatever it is called by now.
    if key == name:
        require_branch_adapter(project, adapter)
    return adapter


def main_adapter(project: Project, name: str | None = None) -> tuple[str, Adapter]:
    """The adapter that is named, else the one that the models of all pipelines share.

    Raises NothingSelected when there is none of that name, or when there are several.
    """
    adapters = project.config.adapter
    if name is None:
        named = {each.target.adapter for each in project.config.pipeline.values()}
        name = _agreed(
            named & adapters.keys(), "the project's pipelines", "choose one with `--target`"
        )
    key = _key_of(project, name)
    return key, adapters[key]


def pipeline_adapter(project: Project, pipeline: Pipeline, name: str | None) -> Adapter:
    """The adapter of a pipeline, or the one that is named. Raises NothingSelected."""
    return find_adapter(project, name or pipeline.target.adapter)


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
    return pipeline.target.adapter if pipeline is not None else DEFAULT_ADAPTER


def _step_adapter(project: Project, step: Step) -> str:
    return adapter_of(project, None if step.kind == "seed" else project.models[step.key])


def _agreed(named: AbstractSet[str], who: str, way_out: str) -> str:
    if len(named) > 1:
        listed = ", ".join(f"`{each}`" for each in sorted(named))
        raise NothingSelected(f"{who} run on different adapters, {listed}: {way_out}")
    return next(iter(named), DEFAULT_ADAPTER)


def _key_of(project: Project, name: str) -> str:
    adapters = project.config.adapter
    key = adapter_key(adapters, name)
    if key is None:
        hint = suggestion(name, adapters) or "adapters: " + ", ".join(
            f"`{key}`" for key in adapters
        )
        raise NothingSelected(f"no adapter `{name}`; {hint}")
    return key
