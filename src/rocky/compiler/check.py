"""check_sql: one query against the schemas it reads, without a project."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rocky.binder.query import bind_text
from rocky.catalog.tables import tables_by_name
from rocky.datatypes.text import fields_from_json, parse_schema
from rocky.datatypes.types import DataType
from rocky.diagnostics import Diagnostic, Severity


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """An output column of a checked query."""

    name: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """The columns a query gives and what is wrong with it.

    `complete` is False when Rocky could not work out the list of columns; then `columns` may be
    missing some even though nothing is wrong.
    """

    columns: tuple[CheckedColumn, ...]
    diagnostics: tuple[Diagnostic, ...]
    complete: bool

    @property
    def ok(self) -> bool:
        """Whether Spark's analyser would accept the query, as far as Rocky knows."""
        return all(each.severity is not Severity.ERROR for each in self.diagnostics)


def check_sql(
    sql: str, tables: Mapping[str, str | Mapping[str, Any]] | None = None
) -> CheckedQuery:
    """Type-check one query. A table's value is a DDL list of columns or Spark's schema JSON."""
    schemas = {
        name: parse_schema(schema) if isinstance(schema, str) else fields_from_json(schema)
        for name, schema in (tables or {}).items()
    }
    bound = bind_text(sql, tables_by_name(schemas))
    columns = tuple(
        CheckedColumn(each.name or "", each.type, each.nullable) for each in bound.columns
    )
    diagnostics = tuple(_placed(each) for each in bound.diagnostics)
    return CheckedQuery(columns, diagnostics, bound.known)


def _placed(diagnostic: Diagnostic) -> Diagnostic:
    """Without labels on upstream columns: a table given as text has no place to point to."""
    if all(label.column is None for label in diagnostic.labels):
        return diagnostic
    kept = tuple(label for label in diagnostic.labels if label.column is None)
    return replace(diagnostic, labels=kept)
