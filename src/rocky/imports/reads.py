"""Reads: what a project says it reads of its imports, so that their owners know.

Types are those that were accepted, not those of now: the owner compares them with what is built
next, and between the two lies the change that the reader has not agreed to.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rocky.imports.columns import column_entry
from rocky.ir.model import ModelIr
from rocky.project import Project
from rocky.project.imports import ImportedTable
from rocky.project.interfaces import InterfaceColumn


def published_reads(project: Project, models: Mapping[str, ModelIr]) -> list[dict[str, Any]]:
    """The imported tables that models read, as JSON values, sorted by import and table."""
    found = []
    for table in project.sources.values():
        if not isinstance(table, ImportedTable):
            continue
        readers = [ir for ir in models.values() if _reads(ir, table)]
        if readers:
            found.append(_read(project, table, readers))
    return sorted(found, key=lambda each: (each["import"], each["table"].lower()))


def _reads(ir: ModelIr, table: ImportedTable) -> bool:
    return any(name.lower() == table.key for name in ir.reads)


def _read(project: Project, table: ImportedTable, readers: list[ModelIr]) -> dict[str, Any]:
    by: dict[str, set[str]] = {}
    for ir in readers:
        for name, reader in _columns_read(ir, table):
            by.setdefault(name, set()).add(reader)
    columns = []
    for column in _accepted(project, table):
        if column.name.lower() in by:
            entry = column_entry(column.name, column.type, nullable=column.nullable)
            columns.append({**entry, "by": sorted(by[column.name.lower()])})
    imported = project.imports[table.imported]
    interface = imported.snapshot or imported.baseline
    return {
        "import": table.imported,
        "project": interface.project if interface is not None else table.imported,
        "table": table.name,
        "columns": columns,
        "by": sorted(ir.name for ir in readers),
        "whole": sorted(ir.name for ir in readers if takes_all(ir, table.key)),
    }


def _columns_read(ir: ModelIr, table: ImportedTable) -> Iterator[tuple[str, str]]:
    """Columns of the table in lower case, and what of the model each goes into."""
    for column in ir.columns:
        for edge in column.edges:
            if edge.table.lower() == table.key:
                # Through code that nobody reads, any column may be in any other.
                into = ir.name if edge.kind == "opaque" else f"{ir.name}.{column.name}"
                yield edge.column.lower(), into
    for each in ir.influences:
        if each.table.lower() == table.key:
            yield each.column.lower(), ir.name


def takes_all(ir: ModelIr, table: str) -> bool:
    """Whether a new column of a table (its lower-case name) would come out of the model."""
    return bool(ir.stars) and any(
        column.span is None and edge.table.lower() == table
        for column in ir.columns
        for edge in column.edges
    )


def _accepted(project: Project, table: ImportedTable) -> list[InterfaceColumn]:
    """The table's columns as they were accepted; those of now where nothing was."""
    imported = project.imports[table.imported]
    now = imported.snapshot.table(table.name) if imported.snapshot is not None else None
    was = imported.baseline.table(table.name) if imported.baseline is not None else None
    columns = now.columns if now is not None else ()
    if was is None:
        return list(columns)
    return [was.column(column.name) or column for column in columns]
