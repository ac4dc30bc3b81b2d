"""`--consumers`: the interfaces of projects that read this one, looked at by a compile."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.analysis.imports.consumers import check_consumers, load_consumers
from rocky.diagnostics.suppression import apply_suppressions
from rocky.plan.selectors import select_models
from rocky.project.configuration.strategies import has_target


def with_consumers(compilation: Compilation, given: Sequence[Path]) -> Compilation:
    """The compilation, with what it would break of the files given and of those in `[publish]`.

    Raises InterfaceRefused when nothing says what consumers call this project.
    """
    project = compilation.project
    paths = (*given, *(project.root / path for path in project.config.publish.consumers))
    if not paths:
        return compilation
    consumers, wrong = load_consumers(paths)
    published = find_published(compilation, project.config.publish.models)
    found = [*wrong, *check_consumers(project, compilation.models, consumers, published)]
    levels = {model.path: model.lints for model in project.models.values()}
    kept = apply_suppressions(found, {}, project.config.lints, levels)
    return replace(compilation, diagnostics=(*compilation.diagnostics, *kept))


def find_published(compilation: Compilation, selectors: Sequence[str]) -> list[str]:
    """The selected models that leave a table or a view, which others may build on."""
    models = compilation.project.models
    keys = select_models(compilation, selectors)
    return [key for key in keys if has_target(models[key].strategy)]
