"""Imports at compile time: what other projects changed of what the models read.

A column that was dropped is unknown to the binder too. That finding is replaced, because why the
column is gone says more than that it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rocky.binder.query import BoundQuery, bind_text
from rocky.catalog.tables import Table
from rocky.compiler.compilation import Compilation
from rocky.compiler.compiled_models import CompiledModels
from rocky.compiler.compiled_tables import CompiledTables
from rocky.compiler.names import Names
from rocky.diagnostics import Code, Diagnostic
from rocky.imports.findings import ReadChange, check_imports, find_read_changes
from rocky.imports.readings import Fields, Rebind
from rocky.project import Project


def with_imports(
    found: list[Diagnostic], project: Project, models: CompiledModels, names: Names
) -> list[Diagnostic]:
    """The findings with those about imports, which take the place of what they explain."""
    reads = find_read_changes(project, models, _rebinding(project, models, names))
    own = check_imports(reads)
    explained = {
        (each.path, place)
        for each in own
        if each.code is Code.IMPORT_COLUMN_DROPPED
        for place in (each.span, *(label.span for label in each.labels if label.path is None))
    }
    kept = [
        each
        for each in found
        if each.code is not Code.UNKNOWN_COLUMN or (each.path, each.span) not in explained
    ]
    return [*kept, *own]


def read_changes(compilation: Compilation) -> Iterator[ReadChange]:
    """Every change of an import that a compiled project reads."""
    project, models = compilation.project, compilation.models
    return find_read_changes(project, models, _rebinding(project, models, Names(project)))


def _rebinding(project: Project, models: CompiledModels, names: Names) -> Rebind:
    def rebind(reader: str, tables: Mapping[str, Fields | None]) -> BoundQuery:
        def change(table: Table) -> Table | None:
            key = table.name.lower()
            if key not in tables:
                return table
            fields = tables[key]
            return None if fields is None else replace(table, fields=fields, known=True)

        seen = CompiledTables(project, models, names, reader, change)
        return bind_text(project.models[reader].sql, seen)

    return rebind
