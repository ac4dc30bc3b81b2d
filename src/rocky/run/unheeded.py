"""Settings that are read and checked, and that no run acts on yet: said, never silent."""

from collections.abc import Iterator
from typing import Final

from rocky.plan.steps import RunPlan
from rocky.project import ModelFile
from rocky.project.config import DEFAULT_CONFIG, Config
from rocky.project.pipelines import Governance, Pipeline
from rocky.project.strategies import ContentAddressed

_NO_GOVERNANCE: Final = Governance()


def settings_without_effect(plan: RunPlan) -> list[str]:
    """What the project or a selected model asks for and a run does not do."""
    found = list(_of_project(plan.project.config))
    for step in plan.selected:
        if step.kind != "seed":
            found += _of_model(plan.project.models[step.key])
    return found


def pipeline_settings_without_effect(config: Config, pipeline: Pipeline) -> list[str]:
    """What the project or a pipeline asks for and its run does not do."""
    found = list(_of_project(config))
    if getattr(pipeline.target, "governance", _NO_GOVERNANCE) != _NO_GOVERNANCE:
        found.append("`target.governance`")
    if getattr(pipeline, "schedule", None) is not None:
        found.append("`schedule`")
    return found


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
