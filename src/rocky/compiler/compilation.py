"""Compilation: everything known about a project after compiling it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocky.compiler.compiled_models import CompiledModels
from rocky.diagnostics import Diagnostic, Severity
from rocky.project import Project


@dataclass(frozen=True, slots=True)
class Statistics:
    """How the compile went; `bound` models were worked on, the others came from the cache."""

    models: int
    bound: int
    columns: int
    unknown_columns: int
    unknown_reasons: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Compilation:
    """A compiled project.

    `order` lists models so that each comes after what it reads; models in a cycle come last.
    `upstream` and `downstream` hold model, source and seed names as the project declares them.
    `diagnostics` are final: suppressed ones are gone, levels are set.
    """

    project: Project
    models: CompiledModels
    order: tuple[str, ...]
    upstream: Mapping[str, tuple[str, ...]]
    downstream: Mapping[str, tuple[str, ...]]
    diagnostics: tuple[Diagnostic, ...]
    statistics: Statistics

    @property
    def has_errors(self) -> bool:
        return any(each.severity is Severity.ERROR for each in self.diagnostics)

    def diagnostics_of(self, model: str) -> tuple[Diagnostic, ...]:
        """The findings that belong to one model."""
        return tuple(each for each in self.diagnostics if each.model == model)
