"""Imports at compile time: what other projects changed of what the models read.

A column that was dropped is unknown to the binder too. That finding is replaced, because why the
column is gone says more than that it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rocky.binder.column_logic import Logic, column_logic
from rocky.binder.query import BoundQuery, bind_text
from rocky.catalog.tables import Table
from rocky.compiler.compilation import Compilation
from rocky.compiler.compiled_models import CompiledModels
from rocky.compiler.compiled_tables import CompiledTables
from rocky.compiler.names import Names
from rocky.diagnostics import Code, Diagnostic
from rocky.imports.findings import ReadChange, check_imports, find_read_changes
from rocky.imports.meanings import Fields, Rebind
from rocky.project import Project


def with_imports(
    found: list[Diagnostic], project: Project, models: CompiledModels, names: Names
) -> list[Diagnostic]:
    """The findings with those about imports, which take the place of what they explain."""
    reads = find_read_changes(project, models, _Rebinding(project, models, names))
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
    return find_read_changes(compilation.project, compilation.models, rebinding(compilation))


def rebinding(compilation: Compilation) -> Rebind:
    """Binds models of a compiled project once more, over tables with other columns."""
    project = compilation.project
    return _Rebinding(project, compilation.models, Names(project))


@dataclass(frozen=True, slots=True)
class _Rebinding:
    project: Project
    models: CompiledModels
    names: Names

    def __call__(self, reader: str, tables: Mapping[str, Fields | None]) -> BoundQuery:
        return bind_text(self.project.models[reader].sql, self._seen(reader, tables))

    def logic(self, reader: str, tables: Mapping[str, Fields | None]) -> Logic:
        return column_logic(self.project.models[reader].sql, self._seen(reader, tables))

    def _seen(self, reader: str, tables: Mapping[str, Fields | None]) -> CompiledTables:
        def change(table: Table) -> Table | None:
            key = table.name.lower()
            if key not in tables:
                return table
            fields = tables[key]
            return None if fields is None else replace(table, fields=fields, known=True)

        return CompiledTables(self.project, self.models, self.names, reader, change)
