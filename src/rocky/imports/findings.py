"""Findings about imports: what other projects changed of the columns that this one reads.

Every model that reads a changed column has a finding of its own, because a run of that model alone
must be refused too. Columns that nobody reads give nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rocky.changes.change import Change
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.imports.comparing import InterfaceChange, compare_interfaces
from rocky.imports.readings import Fields, Reading, Rebind, TableReader
from rocky.ir.model import ModelIr
from rocky.project import ModelFile, Project
from rocky.project.imports import LoadedImport
from rocky.project.interfaces import Interface

CODES: Final = {
    "column_removed": Code.IMPORT_COLUMN_DROPPED,
    "column_type_changed": Code.IMPORT_TYPE_CHANGED,
    "column_type_widened": Code.IMPORT_TYPE_WIDENED,
    "column_nullability_loosened": Code.IMPORT_NULLABILITY_CHANGED,
    "column_nullability_tightened": Code.IMPORT_NULLABILITY_CHANGED,
    "column_added": Code.IMPORT_COLUMN_ADDED,
    "model_removed": Code.IMPORT_TABLE_REMOVED,
}
"""The changes that readers are told of, by the name of the rule."""


@dataclass(frozen=True, slots=True)
class ReadChange:
    """A change that a model reads, and where in its SQL."""

    imported: LoadedImport
    found: InterfaceChange
    model: ModelFile
    reading: Reading


def find_read_changes(
    project: Project, models: Mapping[str, ModelIr], rebind: Rebind
) -> Iterator[ReadChange]:
    """Every change of an import that a model of the project reads."""
    for imported in project.imports.values():
        before, now = imported.baseline, imported.snapshot
        if before is None or now is None or not imported.changed:
            continue
        by_table: dict[str, list[InterfaceChange]] = {}
        for each in compare_interfaces(before, now):
            if each.change.rule in CODES:
                by_table.setdefault(each.target, []).append(each)
        for target, changes in by_table.items():
            fields = _all_fields(target, before, now)
            for model, ir in _readers(project, models, target):
                reader = TableReader(model, ir, target, fields, rebind)
                yield from _read_by(imported, changes, reader)


def _read_by(
    imported: LoadedImport, changes: list[InterfaceChange], reader: TableReader
) -> Iterator[ReadChange]:
    columns = list(dict.fromkeys(each.change.column for each in changes if each.change.column))
    readings = reader.find(columns)
    for each in changes:
        if each.change.column is None:
            reading: Reading | None = Reading(reader.table_places(), named=True)
        else:
            reading = readings.get(each.change.column)
        # A new column that the query names was added to it on purpose.
        if reading is not None and not (each.change.rule == "column_added" and reading.named):
            yield ReadChange(imported, each, reader.model, reading)


def _all_fields(target: str, before: Interface, now: Interface) -> Fields:
    """The columns of now, and after them those that went: a query may name either."""
    was, new = before.table(target), now.table(target)
    kept = new.fields if new is not None else ()
    names = {field.name.lower() for field in kept}
    gone = was.fields if was is not None else ()
    return (*kept, *(field for field in gone if field.name.lower() not in names))


def _readers(
    project: Project, models: Mapping[str, ModelIr], target: str
) -> Iterator[tuple[ModelFile, ModelIr]]:
    key = target.lower()
    for name, model in project.models.items():
        ir = models.get(name)
        if ir is not None and any(each.lower() == key for each in ir.reads):
            yield model, ir


def check_imports(found: Iterator[ReadChange]) -> list[Diagnostic]:
    """A finding for each change that is read."""
    return [_finding(each) for each in found]


def _finding(each: ReadChange) -> Diagnostic:
    change, model = each.found.change, each.model
    code = CODES[change.rule]
    places = [model.place_in_file(span) for span in each.reading.places]
    labels = [Label(place, "and here") for place in places[1:]]
    return Diagnostic(
        code,
        _message(each),
        places[0] if places else None,
        model.path,
        severity_of(code),
        labels=(*labels, *_interface_labels(each)),
        help=_advice(each),
        model=model.name,
        notes=(change.detail,) if change.detail else (),
    )


def _interface_labels(each: ReadChange) -> Iterator[Label]:
    """Where the two files say what it was and what it is."""
    change, target = each.found.change, each.found.target
    for interface, said, text in (
        (each.imported.baseline, "accepted", change.before),
        (each.imported.snapshot, "now", change.after),
    ):
        place = interface.place(target, change.column) if interface is not None else None
        if interface is not None and place is not None:
            shown = f" `{text}`" if text and change.column else ""
            yield Label(place, f"{said}{shown}", interface.path)


def _message(each: ReadChange) -> str:
    who = f"import `{each.imported.name}`"
    return f"{who} {describe(each.found.change, each.found.target)}, {_reads(each)}"


def describe(change: Change, target: str) -> str:
    """What the other project did, as a clause after its name."""
    column = f"column `{change.column}` of `{target}`"
    match change.rule:
        case "column_removed":
            return f"dropped {column}"
        case "column_type_changed":
            return f"changed {column} from `{change.before}` to `{change.after}`"
        case "column_type_widened":
            return f"widened {column} from `{change.before}` to `{change.after}`"
        case "column_nullability_loosened":
            return f"lets {column} be null"
        case "column_nullability_tightened":
            return f"made {column} NOT NULL"
        case "column_added":
            return f"added {column}"
        case _:
            return f"removed the table `{target}`"


def _reads(each: ReadChange) -> str:
    if each.found.change.rule == "column_added":
        return f"which the `*` of model `{each.model.name}` takes along"
    return f"which model `{each.model.name}` reads"


def _advice(each: ReadChange) -> str:
    accept = f"accept it with `rocky imports update {each.imported.name}`"
    match each.found.change.rule:
        case "column_removed" if each.reading.named:
            return "leave the column out of the query, or have the other project keep it"
        case "model_removed":
            return "read another table, or have the other project keep it"
        case "column_added":
            return f"name the columns that are wanted, or {accept}"
        case _:
            return f"see that the query is still right, then {accept}"
