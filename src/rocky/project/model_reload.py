"""Loading one model of a loaded project again, without looking at any other file.

That is right as long as the model is the same one to everybody else: its name, its table, and
whatever else the rest of the project is told of it at a load. `load_again` gives None where it is
not, and then the project is to be loaded as a whole.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rocky.diagnostics import Diagnostic
from rocky.project.inheritance import Inherited
from rocky.project.model_files import LoadContext, load_model
from rocky.project.model_text import find_variables, has_variables
from rocky.project.models import ModelFile


class ModelStart(NamedTuple):
    """What loading a model begins with, and what was wrong with its files."""

    sidecar: str | None
    inherited: Inherited
    found: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelReload:
    """The load of a project, as far as loading one of its models needs it again."""

    loading: LoadContext = field(repr=False)
    starts: Mapping[str, ModelStart] = field(repr=False)


class ReloadedModel(NamedTuple):
    """A model that was loaded again: what is wrong with its files, and whether it can be used.

    `only_query` tells whether its settings and their places are what they were.
    """

    model: ModelFile
    found: tuple[Diagnostic, ...]
    blocked: frozenset[str]
    only_query: bool


def load_again(
    reload: ModelReload, before: ModelFile, touched: Collection[str]
) -> ReloadedModel | None:
    """The model as its files are now; None where others may have to know of the change.

    `touched` are the files that are not what they were.
    """
    start = reload.starts.get(before.path)
    if start is None or before.is_python:
        return None
    old = reload.loading
    loading = LoadContext(
        old.root,
        old.env,
        [],
        variables=old.variables,
        # What is typed is not worth keeping for the next load.
        macros=replace(old.macros, cache=None),
        shared=old.shared,
    )
    model = load_model(before.path, start.sidecar, None, start.inherited, loading)
    if not _is_same(before, model):
        return None
    only_query = (
        model.settings_place == before.settings_place
        and start.sidecar not in touched
        and _front_matter(model) == _front_matter(before)
    )
    found = tuple(loading.diagnostics)
    return ReloadedModel(model, found, frozenset(loading.blocked), only_query)


def _front_matter(model: ModelFile) -> str | None:
    """What stands before a model's query; None where its text has not been read."""
    if not model.sql_offset:
        return ""
    return model.text[: model.sql_offset] if model.is_read else None


def _is_same(before: ModelFile, after: ModelFile) -> bool:
    """Whether a model is to the rest of the project what it was."""
    return (
        before.name == after.name
        and before.target == after.target
        and before.depends_on == after.depends_on
        and before.pipeline == after.pipeline
        and before.strategy == after.strategy
        and before.settings.adapter == after.settings.adapter
        and before.settings.group == after.settings.group
        and _asked(before) == _asked(after)
    )


def _asked(model: ModelFile) -> set[str]:
    """The variables that a model's text asks for."""
    if not model.is_read:
        # One with variables is never remembered.
        return set()
    text = model.text[model.sql_offset :]
    return {each.name for each in find_variables(text)} if has_variables(text) else set()
