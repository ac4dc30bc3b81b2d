"""What a list of a project says of models, sources, seeds, pipelines, functions and macros."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from rocky.language.declared_functions import FunctionKind
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.report import hidden
from rocky.project.pipeline_tables import KnownBy


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model. `upstream` and `downstream` count direct neighbours.

    `held` is why runs leave its table as it was reverted, if they do.
    """

    name: str
    upstream: int
    downstream: int
    kind: Literal["model"]
    path: str
    target: str
    strategy: str
    columns: int
    tags: Mapping[str, str]
    description: str | None = None
    owner: str | None = None
    meta: Mapping[str, Any] | None = None
    column_descriptions: Mapping[str, str] | None = None
    pipeline: str | None = None
    held: str | None = None


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A table that no model makes: declared here, or published by another project.

    A `table` is what a pipeline of this one writes: `columns_from` says where its columns are known
    from, and `as_of` since when.
    """

    name: str
    upstream: int
    downstream: int
    kind: Literal["source", "import", "table"]
    path: str
    format: str
    columns: int
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] | None = None
    meta: Mapping[str, Any] | None = None
    column_descriptions: Mapping[str, str] | None = None
    pipeline: str | None = None
    columns_from: KnownBy | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class ListedSeed:
    """A file whose rows become a table. `held` as of a model."""

    name: str
    upstream: int
    downstream: int
    kind: Literal["seed"]
    path: str
    columns: int
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] | None = None
    meta: Mapping[str, Any] | None = None
    column_descriptions: Mapping[str, str] | None = None
    held: str | None = None


@dataclass(frozen=True, slots=True)
class ListedPipeline:
    """A pipeline of `rocky.toml`; `models` counts those it runs, if it runs models.

    It runs after those that `depends_on` names, and after those that it `reads_from`.
    """

    name: str
    kind: Literal["pipeline"]
    type: str
    models: int
    depends_on: tuple[str, ...]
    description: str | None = None
    owner: str | None = None
    meta: Mapping[str, Any] | None = None
    reads_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedFunction:
    """A declared function. `signature` is what a call looks like and gives.

    `called_by` are the models that call it themselves. `deterministic` is None where nobody says.
    """

    name: str
    kind: Literal["function"]
    type: FunctionKind
    path: str
    signature: str
    gives_rows: bool
    aggregate: bool
    called_by: tuple[str, ...]
    deterministic: bool | None = None
    description: str | None = None
    owner: str | None = None


def _digest(found: Sequence[ListedModel | ListedSource | ListedSeed], **numbers: int) -> Digest:
    rows = [
        (each.name, each.kind, each.columns, each.owner, each.description or each.path)
        for each in found
    ]
    columns = ("name", "kind", "columns", "owner", "description")
    return Digest(counts(**numbers), columns, rows, len(rows))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelsReport(Digested):
    """The models, in the order they would run. `errors` counts those of the whole project."""

    errors: int = hidden()
    models: tuple[ListedModel, ...]

    def digest(self) -> Digest:
        return _digest(self.models, model=len(self.models), error=self.errors)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SourcesReport(Digested):
    """The sources."""

    errors: int = hidden()
    sources: tuple[ListedSource, ...]

    def digest(self) -> Digest:
        return _digest(self.sources, source=len(self.sources), error=self.errors)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SeedsReport(Digested):
    """The seeds."""

    errors: int = hidden()
    seeds: tuple[ListedSeed, ...]

    def digest(self) -> Digest:
        return _digest(self.seeds, seed=len(self.seeds), error=self.errors)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PipelinesReport(Digested):
    """The pipelines, in the order of `rocky.toml`."""

    errors: int = hidden()
    pipelines: tuple[ListedPipeline, ...]

    def digest(self) -> Digest:
        rows = [(each.name, each.type, each.models, each.description) for each in self.pipelines]
        title = counts(pipeline=len(rows), error=self.errors)
        return Digest(title, ("name", "type", "models", "description"), rows, len(rows))


_FUNCTION_COLUMNS: Final = ("name", "kind", "signature", "models", "description")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FunctionsReport(Digested):
    """The declared functions, by name."""

    errors: int = hidden()
    functions: tuple[ListedFunction, ...]

    def digest(self) -> Digest:
        rows = [
            (each.name, each.type, each.signature, len(each.called_by), each.description)
            for each in self.functions
        ]
        title = counts(function=len(rows), error=self.errors)
        return Digest(title, _FUNCTION_COLUMNS, rows, len(rows))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ListReport(Digested):
    """Everything the project has that can be selected; models in the order they would run."""

    errors: int = hidden()
    models: tuple[ListedModel, ...]
    sources: tuple[ListedSource, ...]
    seeds: tuple[ListedSeed, ...]

    def digest(self) -> Digest:
        found: list[ListedModel | ListedSource | ListedSeed] = [*self.models]
        found += [*self.sources, *self.seeds]
        numbers = {"model": self.models, "source": self.sources, "seed": self.seeds}
        counted = {name: len(each) for name, each in numbers.items()}
        return _digest(found, **counted, error=self.errors)


@dataclass(frozen=True, slots=True)
class ListedMacro:
    """A macro. `called_by` are the models in whose SQL, or tests, its text is."""

    name: str
    kind: Literal["macro"]
    path: str
    signature: str
    called_by: tuple[str, ...]
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MacrosReport(Digested):
    """The macros, by name."""

    errors: int = hidden()
    macros: tuple[ListedMacro, ...]

    def digest(self) -> Digest:
        rows = [
            (each.name, each.signature, len(each.called_by), each.description)
            for each in self.macros
        ]
        head = ("name", "signature", "models", "description")
        return Digest(counts(macro=len(rows), error=self.errors), head, rows, len(rows))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A table beside another: the `columns` that are read, or made, and `how` they are used."""

    name: str
    kind: Literal["model", "source", "import", "seed", "table"]
    columns: tuple[str, ...]
    how: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NeighboursReport(Digested):
    """What a model or a column directly needs (`deps`), or who reads it (`consumers`)."""

    errors: int = hidden()
    name: str
    side: Literal["deps", "consumers"]
    neighbours: tuple[Neighbour, ...]

    def digest(self) -> Digest:
        rows = [
            (each.name, each.kind, ", ".join(each.columns), ", ".join(each.how))
            for each in self.neighbours
        ]
        return Digest(f"{self.side} of {self.name}: {len(rows)}", _NEAR_COLUMNS, rows, len(rows))


_NEAR_COLUMNS: Final = ("name", "kind", "columns", "how")
Listed = (
    ListReport
    | ModelsReport
    | SourcesReport
    | SeedsReport
    | PipelinesReport
    | FunctionsReport
    | MacrosReport
    | NeighboursReport
)
