"""check_sql: one query against the schemas it reads, without a project."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rocky.diagnostics import Diagnostic, Severity
from rocky.errors import InvalidRequest, InvalidSchema
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import TypeSyntaxError, fields_from_json, parse_schema
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.tables import tables_by_name


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
    """Type-check one query. A table's value is a DDL list of columns or Spark's schema JSON.

    Raises InvalidSchema for a table whose columns cannot be read.
    """
    if not isinstance(sql, str):
        raise InvalidRequest(f"`sql` is a text, not {sql!r}")
    if tables is not None and not isinstance(tables, Mapping):
        raise InvalidRequest(f"`tables` maps the names of tables to their columns, not {tables!r}")
    schemas = {name: _fields(name, schema) for name, schema in (tables or {}).items()}
    bound = bind_text(sql, tables_by_name(schemas))
    columns = tuple(
        CheckedColumn(each.name or "", each.type, each.nullable) for each in bound.columns
    )
    diagnostics = tuple(_placed(each) for each in bound.diagnostics)
    return CheckedQuery(columns, diagnostics, bound.known)


@lru_cache(maxsize=256)
def _columns_of(ddl: str) -> tuple[StructField, ...]:
    """Whoever checks one query over some tables checks many, and to read a schema takes as long."""
    return tuple(parse_schema(ddl))


def _fields(name: str, schema: str | Mapping[str, Any]) -> Sequence[StructField]:
    """A table's columns. Raises InvalidSchema, which names the table."""
    try:
        if isinstance(schema, str):
            return _columns_of(schema)
        if isinstance(schema, Mapping):
            return fields_from_json(schema)
    except TypeSyntaxError as error:
        raise InvalidSchema(f"table `{name}`: {error}") from error
    except (KeyError, TypeError) as error:
        raise InvalidSchema(
            f"table `{name}`: not Spark's schema JSON, which has `fields`; a text such as"
            " `id BIGINT, name STRING` does too"
        ) from error
    raise InvalidSchema(
        f"table `{name}`: columns are a DDL text or Spark's schema JSON as a dict,"
        f" not {type(schema).__name__}"
    )


def _placed(diagnostic: Diagnostic) -> Diagnostic:
    """Without labels on upstream columns: a table given as text has no place to point to."""
    if all(label.column is None for label in diagnostic.labels):
        return diagnostic
    kept = tuple(label for label in diagnostic.labels if label.column is None)
    return replace(diagnostic, labels=kept)
