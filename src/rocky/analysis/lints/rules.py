"""The lists of lints: rules over one model's output, over its settings, and over the graph.

There are three lists because they are worked at different times. What `OUTPUT_RULES` find lies in
the model's SQL and follows from it alone, so the compiler keeps it with the bound model;
`SETTINGS_RULES` point into sidecars, and `lint_graph` needs to know who reads whom.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.lints.output import duplicate_output_column, select_star, unnamed_output
from rocky.analysis.lints.settings import (
    Texts,
    merge_key_missing,
    names_columns,
    setting_column_missing,
)
from rocky.analysis.lints.time_interval import time_interval
from rocky.diagnostics import Diagnostic, Label
from rocky.language.ir import ModelIr
from rocky.project.models import ModelFile

__all__ = [
    "OUTPUT_RULES",
    "SETTINGS_RULES",
    "lint_graph",
    "lint_model",
    "lint_output",
    "lint_settings",
]

OutputRule = Callable[[ModelIr], Iterable[Diagnostic]]
SettingsRule = Callable[[ModelFile, ModelIr, Texts], Iterable[Diagnostic]]

OUTPUT_RULES: Final[tuple[OutputRule, ...]] = (duplicate_output_column, unnamed_output)
SETTINGS_RULES: Final[tuple[SettingsRule, ...]] = (
    merge_key_missing,
    time_interval,
    setting_column_missing,
)


def lint_output(ir: ModelIr) -> list[Diagnostic]:
    """Findings about a model's output, placed in its SQL and not yet in a file."""
    return [found for rule in OUTPUT_RULES for found in rule(ir)]


def lint_settings(model: ModelFile, ir: ModelIr, texts: Texts) -> list[Diagnostic]:
    """Findings about settings that do not fit the model's output, placed in their files."""
    if not names_columns(model):
        return []
    return [found for rule in SETTINGS_RULES for found in rule(model, ir, texts)]


def lint_model(model: ModelFile, ir: ModelIr, texts: Texts) -> list[Diagnostic]:
    """Every finding that needs one model only, placed in its file."""
    found = [_place(each, model) for each in lint_output(ir)]
    return found + lint_settings(model, ir, texts)


def lint_graph(
    models: Mapping[str, ModelIr],
    files: Mapping[str, ModelFile],
    downstream: Mapping[str, Sequence[str]],
) -> list[Diagnostic]:
    """Findings that need to know the readers; `models` and `files` by key, readers by name."""
    found: list[Diagnostic] = []
    for key, ir in models.items():
        model = files[key]
        found += select_star(model, ir, downstream.get(model.name, ()))
    return found


def _place(found: Diagnostic, model: ModelFile) -> Diagnostic:
    """A finding in the model's SQL as one in its file."""
    return replace(
        found,
        span=model.place_in_file(found.span) if found.span is not None else None,
        path=model.path,
        labels=tuple(
            Label(model.place_in_file(label.span) if label.span else None, label.message)
            for label in found.labels
        ),
        model=model.name,
    )
