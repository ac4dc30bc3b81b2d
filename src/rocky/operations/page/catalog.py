"""The catalogue of a project: every table with its columns, what is said of them, and its tests.

It compiles, because the columns of models are known only from their SQL.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure
from rocky.language.datatypes.types import StructField
from rocky.language.ir import OutputColumn
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import errors_in
from rocky.operations.graph.source_kinds import source_kind
from rocky.operations.report import hidden
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Request
from rocky.plan.selectors import select_nodes
from rocky.project import ModelFile, SourceTable
from rocky.project.configuration.classifications import joined_tags
from rocky.project.configuration.freshness import FreshnessRecord
from rocky.project.configuration.labels import shown_meta, shown_tags, shown_text
from rocky.project.descriptions import Described, describe_declared, describe_model
from rocky.project.seeds import SeedTable


@dataclass(frozen=True, slots=True)
class CatalogRequest(Request):
    """Everything; with selectors, only what they choose."""

    select: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column: its type as Spark writes it, and what is said of it."""

    name: str
    type: str
    nullable: bool
    description: str | None = None
    classification: str | None = None


@dataclass(frozen=True, slots=True)
class CatalogTest:
    """A test that a model declares; `rule` is what it asks, in words."""

    name: str
    type: str
    severity: Literal["error", "warning"]
    column: str | None = None
    rule: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class CatalogFreshness:
    """How many seconds old the newest row may be before it is a warning, or an error."""

    time_column: str
    warn_after: int | None = None
    error_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTable:
    """A model, source or seed. `complete` is False when it may have more columns.

    `target` is the full name of a model's table.
    """

    name: str
    kind: Literal["model", "source", "import", "table", "seed"]
    path: str
    target: str | None = None
    strategy: str | None = None
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] | None = None
    meta: Mapping[str, Any] | None = None
    freshness: CatalogFreshness | None = None
    complete: bool = True
    columns: tuple[CatalogColumn, ...] = ()
    tests: tuple[CatalogTest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CatalogReport(Digested):
    """Sources, seeds, then models in the order they would run."""

    errors: int = hidden()
    tables: tuple[CatalogTable, ...]

    def digest(self) -> Digest:
        rows = [
            (each.name, each.kind, len(each.columns), len(each.tests), each.owner, each.description)
            for each in self.tables
        ]
        head = ("name", "kind", "columns", "tests", "owner", "description")
        return Digest(counts(table=len(rows), error=self.errors), head, rows, len(rows))


def catalog(workspace: Workspace, request: CatalogRequest) -> CatalogReport:
    """Every table. Raises NothingSelected, InvalidRequest, and what loading raises."""
    compilation = compile_workspace(workspace, discovered=True)
    project, chosen = compilation.project, select_nodes(compilation, request.select)
    sources = (_declared(each) for key, each in project.sources.items() if key in chosen)
    seeds = (_declared(each) for key, each in project.seeds.items() if key in chosen)
    names = (name.lower() for name in compilation.order)
    disclosure = Disclosure(compilation)
    models = (
        _model(compilation, project.models[key], disclosure) for key in names if key in chosen
    )
    errors = len(errors_in(compilation.diagnostics))
    return CatalogReport(errors=errors, tables=(*sources, *seeds, *models))


def _model(compilation: Compilation, model: ModelFile, disclosure: Disclosure) -> CatalogTable:
    ir = compilation.models.get(model.key)
    said = describe_model(model, compilation.project.contracts.get(model.key))
    return CatalogTable(
        name=model.name,
        kind="model",
        path=model.path,
        target=model.target.full_name,
        strategy=model.strategy.type,
        description=said.table,
        owner=shown_text(model.owner),
        tags=shown_tags(model.tags) or None,
        meta=shown_meta(model.settings.meta) or None,
        freshness=_freshness(model.settings.freshness),
        complete=ir is not None and ir.known,
        columns=_columns(ir.columns if ir is not None else (), said, model.classification),
        tests=tuple(_tests(model, disclosure)),
    )


def _declared(table: SourceTable | SeedTable) -> CatalogTable:
    said = describe_declared(table)
    is_source = isinstance(table, SourceTable)
    return CatalogTable(
        name=table.name,
        kind=source_kind(table) if isinstance(table, SourceTable) else "seed",
        path=table.file if isinstance(table, SourceTable) else table.path,
        description=said.table,
        owner=shown_text(table.owner),
        tags=shown_tags(table.tags) or None,
        meta=shown_meta(table.meta) or None,
        freshness=_freshness(table.freshness) if isinstance(table, SourceTable) else None,
        complete=bool(table.columns) or not is_source,
        columns=_columns(table.columns, said, table.classification),
    )


def _columns(
    columns: Iterable[OutputColumn | StructField],
    said: Described,
    classified: Mapping[str, tuple[str, ...]],
) -> tuple[CatalogColumn, ...]:
    by_name = {name.lower(): label for name, label in joined_tags(classified).items()}
    return tuple(
        CatalogColumn(
            each.name,
            str(each.type),
            each.nullable,
            said.columns.get(each.name.lower()),
            by_name.get(each.name.lower()),
        )
        for each in columns
    )


def _freshness(declared: FreshnessRecord | None) -> CatalogFreshness | None:
    if declared is None:
        return None
    limits = declared.limits
    return CatalogFreshness(declared.time_column, limits.get("warning"), limits.get("error"))


def _tests(model: ModelFile, disclosure: Disclosure) -> Iterator[CatalogTest]:
    # Words for tests are the page's; a model without any does not pay for them.
    if not (model.tests or model.settings.test or model.settings.freshness):
        return
    from rocky.operations.page.declared_tests import describe_tests  # noqa: PLC0415

    for each in describe_tests(model, {}, disclosure):
        yield CatalogTest(
            each.name, each.kind, each.severity, each.column, each.rule, each.description
        )
