"""What a command was asked about: models by name, their findings, and the form of the answer."""

from collections.abc import Sequence

import click

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import reach_models
from rocky.cli.options import Settings
from rocky.diagnostics import Code, Diagnostic
from rocky.operations.workspace import broken_models, model_named
from rocky.project import ModelFile

SHOWN = 5


def use_json(settings: Settings, style: str | None) -> bool:
    """Whether to print JSON: `--format` speaks of text, so the two cannot both be asked for."""
    if style is None or not settings.json:
        return settings.json
    if settings.asked:
        raise click.UsageError("`--format` is a form of text; leave it out or drop `-o json`")
    return False


def chosen_models(compilation: Compilation, names: Sequence[str]) -> list[ModelFile]:
    """The models that are named, or all, in the order they would run."""
    project = compilation.project
    ordered = [project.models[name.lower()] for name in compilation.order]
    wanted = {model_named(project, name).key for name in names}
    return [model for model in ordered if model.key in wanted] if names else ordered


def chosen_findings(
    compilation: Compilation, models: Sequence[ModelFile]
) -> tuple[Diagnostic, ...]:
    """The findings of some models, and those in `rocky.toml`, which concern every model.

    A clash of two models is reported at one of them and concerns both.
    """
    names = {model.name.lower() for model in models}
    paths = {model.path for model in models} | {compilation.project.config_path}
    own = {path for model in models for path in (model.path, model.settings_path) if path}
    return tuple(
        each
        for each in compilation.diagnostics
        if (each.model.lower() in names if each.model is not None else each.path in paths)
        or (each.code is Code.DUPLICATE_TARGET and any(label.path in own for label in each.labels))
    )


def broken_inputs(compilation: Compilation, models: Sequence[ModelFile]) -> str:
    """Models further up that have errors: they may be why types are unknown here."""
    chosen = {model.name for model in models}
    above = reach_models(compilation.upstream, chosen) - chosen
    broken = sorted(above & broken_models(compilation))
    listed = ", ".join(f"`{name}`" for name in broken[:SHOWN])
    return f"{listed} and {len(broken) - SHOWN} more" if len(broken) > SHOWN else listed
