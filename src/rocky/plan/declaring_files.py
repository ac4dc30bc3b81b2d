"""Declaring files: those that say what a model, seed or source is, whether they can be read or not.

An error in one of them concerns whoever it belongs to. A file that could not be read is found by
the name that it would have: nothing else is known of it.
"""

from collections.abc import Iterator
from typing import Final

from rocky.analysis.compilation import Compilation, unpack_body
from rocky.analysis.names import has_undeclared_functions
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.project import ModelFile, SeedTable, SourceTable
from rocky.project.check_sql import find_check_sql
from rocky.project.functions import FOLDER as FUNCTIONS
from rocky.project.macros import is_macro_folder, reach_macros
from rocky.project.models import stem_of
from rocky.project.setting_sql import assertion_sql
from rocky.project.sources import FOLDER as SOURCES

_EXPANDED: Final = object()


class DeclaringFiles:
    """The files of a compiled project's models, seeds and sources, and of its settings."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        self._project = compilation.project
        errors = [each for each in compilation.diagnostics if each.severity is Severity.ERROR]
        self._macros = _broken_macros(errors)
        # Whatever is declared in a file that cannot be read looks like one of Spark's own.
        self._functions = _unusable_in(FUNCTIONS, errors)
        self._sources = _unusable_in(SOURCES, errors)

    def of_settings(self) -> Iterator[str]:
        """`rocky.toml`, and the broken macros that its checks call."""
        project = self._project
        yield project.config_path
        if self._macros and None in project.check_expansions.values():
            for each in find_check_sql(project.config):
                if project.check_expansions.get(each.setting.keys, _EXPANDED) is None:
                    yield from self._broken_in(each.setting.sql)

    def of(self, key: str) -> Iterator[str]:
        """The files of a model, seed or source, and of the macros and functions that it calls."""
        project = self._project
        if key in self._compilation.models:
            yield from self._function_paths(key)
        if key in project.models:
            model = project.models[key]
            yield from _model_paths(model)
            if self._macros:
                for sql in self._unexpanded(model):
                    yield from self._broken_in(sql)
        if key in project.sources:
            source = project.sources[key]
            yield source.file
            # One that a pipeline writes, or that another project has, is known without a file.
            if type(source) is SourceTable and not source.is_declared:
                yield from self._sources
        if key in project.seeds:
            yield from _seed_paths(project.seeds[key])

    def _function_paths(self, key: str) -> Iterator[str]:
        functions, record = self._project.functions, self._compilation.models.record(key)
        for name, _ in unpack_body(record).functions if functions else ():
            function = functions[name]
            yield function.signature.path
            yield from (functions[each].signature.path for each in function.calls)
        if self._functions and has_undeclared_functions(record):
            yield from self._functions

    def _unexpanded(self, model: ModelFile) -> Iterator[str]:
        """The SQL of a model in which macros may stand that could not be expanded."""
        if model.key not in self._compilation.models and not model.is_python:
            yield model.body
        if None in model.setting_expansions.values():
            for keys, _, sql in assertion_sql(model.settings.tests, ("tests",)):
                if model.setting_expansions.get(keys, _EXPANDED) is None:
                    yield sql

    def _broken_in(self, sql: str) -> Iterator[str]:
        for key in reach_macros(sql, self._project.macros):
            yield from self._macros.get(key, ())


def _unusable_in(folder: str, errors: list[Diagnostic]) -> set[str]:
    """A folder and the files in it, those that cannot be read or used."""
    return {
        each.path
        for each in errors
        if each.code is Code.UNUSABLE_FILE
        and each.path is not None
        and f"{each.path}/".startswith(f"{folder}/")
    }


def _broken_macros(errors: list[Diagnostic]) -> dict[str, list[str]]:
    """The files of macros that have errors, by the keys of these."""
    found: dict[str, list[str]] = {}
    for each in errors:
        if each.path is not None and is_macro_folder(each.path):
            found.setdefault(stem_of(each.path).lower(), []).append(each.path)
    return found


def _model_paths(model: ModelFile) -> Iterator[str]:
    yield model.path
    yield f"{model.path.rpartition('.')[0]}.toml"
    folder = model.path.rpartition("/")[0]
    while folder:
        yield f"{folder}/_defaults.toml"
        folder = folder.rpartition("/")[0]
    yield "_defaults.toml"


def _seed_paths(seed: SeedTable) -> set[str]:
    return {seed.path, seed.file, f"{seed.path.rpartition('.')[0]}.toml"}
