"""Consumption: which columns of a table a model reads, where it can be proved to read no others.

Lineage says which columns reach a value or decide about rows. That these are all is proved by
binding the model once more over tables that have no other columns: it must come out the same. A
name could still mean another column there, so one that stands bare in the query is never left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rocky.analysis.compilation import Compilation
from rocky.analysis.names import CompiledTables, Names
from rocky.diagnostics import Severity
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.syntax.mentions import bare_names
from rocky.language.tables import Table


def _cut_tables(
    compilation: Compilation, reader: str, kept: Mapping[str, frozenset[str]]
) -> CompiledTables:
    """The tables of a project as one model sees them, some with few of their columns."""

    def cut(table: Table) -> Table:
        columns = kept.get(table.name.lower())
        if columns is None:
            return table
        fields = tuple(field for field in table.fields if field.name.lower() in columns)
        return replace(table, fields=fields)

    project = compilation.project
    return CompiledTables(project, compilation.models, Names(project), reader, cut)


def consumed_columns(
    compilation: Compilation, key: str, tables: Mapping[str, Iterable[str]]
) -> dict[str, frozenset[str]] | None:
    """The columns that a model reads of some tables, in lower case; None when nobody can tell.

    `tables` are the models or seeds in question, by name, each with the columns that it has or had.
    """
    model, ir = compilation.project.models[key], compilation.models[key]
    if model.is_python or not ir.known or ir.unknowns:
        return None
    bare = bare_names(model.sql)
    if bare is None:
        return None
    consumed = {name.lower(): frozenset[str]() for name in tables}
    read = {(edge.table, edge.column) for column in ir.columns for edge in column.edges}
    read |= {(each.table, each.column) for each in ir.influences}
    for table, column in read:
        if table.lower() in consumed:
            consumed[table.lower()] |= {column.lower()}
    for name, columns in tables.items():
        if bare & ({column.lower() for column in columns} - consumed[name.lower()]):
            return None
    whole = bind_text(model.sql, _cut_tables(compilation, key, {}))
    cut = bind_text(model.sql, _cut_tables(compilation, key, consumed))
    return consumed if _comes_out_the_same(whole, cut) else None


def _comes_out_the_same(whole: BoundQuery, cut: BoundQuery) -> bool:
    return _is_whole(whole) and _is_whole(cut) and _meaning(whole) == _meaning(cut)


def _is_whole(bound: BoundQuery) -> bool:
    wrong = any(each.severity is Severity.ERROR for each in bound.diagnostics)
    return bound.known and bound.binding is not None and not bound.binding.unknowns and not wrong


def _meaning(bound: BoundQuery) -> tuple[object, ...]:
    """The columns of a query with where they come from, and what shapes its rows."""
    binding = bound.binding
    assert binding is not None
    return (
        [
            (
                each.name,
                each.type,
                each.nullable,
                {(binding.origins[source >> 3], source & 7) for source in each.sources},
            )
            for each in bound.columns
        ],
        {(binding.origins[at], role) for at, role in binding.influences},
        binding.volatile,
    )
