"""Reads: what a project says it reads of its imports, so that their owners know.

Types and promises are those that were accepted, not those of now: the owner compares them with
what is built next, and between the two lies the change that the reader has not agreed to. What
counts as read is what a compile here would tell of, never less.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rocky.imports.columns import column_entry
from rocky.imports.findings import find_readers
from rocky.imports.meanings import Rebind
from rocky.imports.readings import TableReader
from rocky.ir.model import ModelIr
from rocky.project import Project
from rocky.project.imports import ImportedTable
from rocky.project.interfaces import InterfaceColumn, InterfaceTable


def published_reads(
    project: Project, models: Mapping[str, ModelIr], rebind: Rebind
) -> list[dict[str, Any]]:
    """The imported tables that models read, as JSON values, sorted by import and table."""
    found = []
    for table in project.sources.values():
        if not isinstance(table, ImportedTable):
            continue
        readers = [
            TableReader(model, ir, table.name, table.columns, rebind)
            for model, ir in find_readers(project, models, table.name)
        ]
        if readers:
            found.append(_read(project, table, readers))
    return sorted(found, key=lambda each: (each["import"], each["table"].lower()))


def _read(project: Project, table: ImportedTable, readers: list[TableReader]) -> dict[str, Any]:
    by: dict[str, set[str]] = {}
    for reader in readers:
        for name in reader.find_names([column.name for column in table.columns]):
            into = set(_values(reader.ir, table, name.lower())) or {reader.ir.name}
            by.setdefault(name.lower(), set()).update(into)
    accepted = _accepted(project, table)
    columns = []
    for column in _columns(table, accepted):
        if column.name.lower() in by:
            entry = column_entry(column.name, column.type, nullable=column.nullable)
            if column.classification is not None:
                entry["classification"] = column.classification
            columns.append({**entry, "by": sorted(by[column.name.lower()])})
    imported = project.imports[table.imported]
    interface = imported.snapshot or imported.baseline
    return {
        "import": table.imported,
        "project": interface.project if interface is not None else table.imported,
        "table": table.name,
        "columns": columns,
        "by": sorted(reader.ir.name for reader in readers),
        **_promised(accepted, by),
        "whole": _those(readers, TableReader.takes_all),
        "ordered": _those(readers, TableReader.needs_order),
        "exact": _those(readers, TableReader.needs_exactly),
    }


def _those(readers: list[TableReader], do: Callable[[TableReader], bool]) -> list[str]:
    return sorted(reader.ir.name for reader in readers if do(reader))


def _values(ir: ModelIr, table: ImportedTable, name: str) -> Iterator[str]:
    """What of a model a column of the table (its lower-case name) goes into, or decides about."""
    for column in ir.columns:
        for edge in column.edges:
            if edge.table.lower() == table.key and edge.column.lower() == name:
                # Through code that nobody reads, any column may be in any other.
                yield ir.name if edge.kind == "opaque" else f"{ir.name}.{column.name}"
    for each in ir.influences:
        if each.table.lower() == table.key and each.column.lower() == name:
            yield ir.name


def _promised(accepted: InterfaceTable | None, read: Mapping[str, object]) -> dict[str, Any]:
    """What was promised of the table beside types, as far as it is about columns that are read."""
    if accepted is None:
        return {}
    rules = {
        key: [name for name in getattr(accepted.contract, key) if name.lower() in read]
        for key in ("required", "protected")
    }
    kept: dict[str, Any] = {key: names for key, names in rules.items() if names}
    if accepted.contract.strict:
        kept["strict"] = True
    return {"strategy": accepted.strategy, **({"contract": kept} if kept else {})}


def _accepted(project: Project, table: ImportedTable) -> InterfaceTable | None:
    """The table as it was accepted; as it is now where nothing was."""
    imported = project.imports[table.imported]
    for interface in (imported.baseline, imported.snapshot):
        found = interface.table(table.name) if interface is not None else None
        if found is not None:
            return found
    return None


def _columns(table: ImportedTable, accepted: InterfaceTable | None) -> Iterator[InterfaceColumn]:
    """The columns of now, as they were accepted; those that are newer as they are."""
    for field in table.columns:
        was = accepted.column(field.name) if accepted is not None else None
        yield was or InterfaceColumn(field.name, field.type, field.nullable)
