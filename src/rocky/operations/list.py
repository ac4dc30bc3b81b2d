"""List: what the project has, and how it hangs together.

It compiles, because who reads whom is known only from the SQL; findings are only counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rocky.analysis.compilation import Compilation
from rocky.operations.findings import errors_in
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Request
from rocky.project import SourceTable
from rocky.project.imports import ImportedTable
from rocky.project.toml.variables import written

Kind = Literal["models", "sources", "seeds"]


@dataclass(frozen=True, slots=True)
class ListRequest(Request):
    """Everything, or one kind of it."""

    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model. `upstream` and `downstream` count direct neighbours."""

    name: str
    upstream: int
    downstream: int
    kind: Literal["model"]
    path: str
    target: str
    strategy: str
    columns: int
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A table that is only read: declared here, or published by another project."""

    name: str
    upstream: int
    downstream: int
    kind: Literal["source", "import"]
    path: str
    format: str
    columns: int
    description: str | None = None


@dataclass(frozen=True, slots=True)
class ListedSeed:
    """A file whose rows become a table."""

    name: str
    upstream: int
    downstream: int
    kind: Literal["seed"]
    path: str
    columns: int
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsReport:
    """The models, in the order they would run. `errors` counts those of the whole project."""

    errors: int = hidden()
    models: tuple[ListedModel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesReport:
    """The sources."""

    errors: int = hidden()
    sources: tuple[ListedSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsReport:
    """The seeds."""

    errors: int = hidden()
    seeds: tuple[ListedSeed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReport:
    """Everything the project has; models in the order they would run."""

    errors: int = hidden()
    models: tuple[ListedModel, ...]
    sources: tuple[ListedSource, ...]
    seeds: tuple[ListedSeed, ...]


Listed = ListReport | ModelsReport | SourcesReport | SeedsReport


def list_project(workspace: Workspace, request: ListRequest) -> Listed:
    """What the project has. Raises InvalidRequest, and what loading raises."""
    compilation = compile_workspace(workspace)
    errors = len(errors_in(compilation.diagnostics))
    match request.kind:
        case "models":
            return ModelsReport(errors=errors, models=_models(compilation))
        case "sources":
            return SourcesReport(errors=errors, sources=_sources(compilation))
        case "seeds":
            return SeedsReport(errors=errors, seeds=_seeds(compilation))
        case None:
            return ListReport(
                errors=errors,
                models=_models(compilation),
                sources=_sources(compilation),
                seeds=_seeds(compilation),
            )


def source_kind(source: SourceTable) -> Literal["source", "import"]:
    """What a table that is only read is called: one of another project is an import."""
    return "import" if isinstance(source, ImportedTable) else "source"


def _models(compilation: Compilation) -> tuple[ListedModel, ...]:
    models = [compilation.project.models[name.lower()] for name in compilation.order]
    return tuple(
        ListedModel(
            model.name,
            *_neighbours(compilation, model.name),
            "model",
            model.path,
            model.target.full_name,
            model.strategy.type,
            compilation.models.record(model.key).columns if model.key in compilation.models else 0,
            model.tags,
        )
        for model in models
    )


def _sources(compilation: Compilation) -> tuple[ListedSource, ...]:
    return tuple(
        ListedSource(
            source.name,
            *_neighbours(compilation, source.name),
            source_kind(source),
            source.file,
            source.format,
            len(source.columns),
            _shown(source.description),
        )
        for source in compilation.project.sources.values()
    )


def _seeds(compilation: Compilation) -> tuple[ListedSeed, ...]:
    return tuple(
        ListedSeed(
            seed.name,
            *_neighbours(compilation, seed.name),
            "seed",
            seed.path,
            len(seed.columns),
            _shown(seed.description),
        )
        for seed in compilation.project.seeds.values()
    )


def _shown(description: str | None) -> str | None:
    """What a variable holds may be a secret: such a text is shown as it is written."""
    return None if description is None else str(written(description))


def _neighbours(compilation: Compilation, name: str) -> tuple[int, int]:
    return len(compilation.upstream.get(name, ())), len(compilation.downstream.get(name, ()))
