"""Findings about imports: what other projects changed of the columns that this one reads.

Every model that reads a changed column has a finding of its own, because a run of that model alone
must be refused too. Columns that nobody reads give nothing. A column that was dropped is unknown
to the binder too; that finding is replaced, because why the column is gone says more than that it
is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rocky.analysis.changes.change import Change
from rocky.analysis.changes.declarations import InterfaceChange, compare_interfaces
from rocky.analysis.compilation import Compilation, CompiledModels
from rocky.analysis.imports.usage import ColumnUse, Fields, ImportReader, Rebind
from rocky.analysis.names import CompiledTables, Names
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.language.binder.logic.queries import Logic, column_logic
from rocky.language.binder.query import BoundQuery, bind_text
from rocky.language.ir import ModelIr
from rocky.language.tables import Table
from rocky.project import ModelFile, Project
from rocky.project.imports import LoadedImport
from rocky.project.interfaces import Interface

CODES: Final = {
    "column_removed": Code.IMPORT_COLUMN_DROPPED,
    "column_type_changed": Code.IMPORT_TYPE_CHANGED,
    "column_type_widened": Code.IMPORT_TYPE_WIDENED,
    "column_nullability_loosened": Code.IMPORT_NULLABILITY_CHANGED,
    "column_nullability_tightened": Code.IMPORT_NULLABILITY_TIGHTENED,
    "column_added": Code.IMPORT_COLUMN_ADDED,
    "column_reordered": Code.IMPORT_READS_OTHERWISE,
    "model_removed": Code.IMPORT_TABLE_REMOVED,
    "strategy_changed": Code.IMPORT_PROMISE_WITHDRAWN,
    "classification_removed": Code.IMPORT_PROMISE_WITHDRAWN,
    "contract_weakened": Code.IMPORT_PROMISE_WITHDRAWN,
}
"""The changes that readers are told of, by the name of the rule."""


@dataclass(frozen=True, slots=True)
class ReadChange:
    """A change that a model reads, and where in its SQL."""

    imported: LoadedImport
    found: InterfaceChange
    model: ModelFile
    reading: ColumnUse


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
            for model, ir in find_readers(project, models, target):
                reader = ImportReader(model, ir, target, fields, rebind)
                yield from _read_by(imported, changes, reader)


def _read_by(
    imported: LoadedImport, changes: list[InterfaceChange], reader: ImportReader
) -> Iterator[ReadChange]:
    named = [each.change for each in changes if each.change.column is not None]
    columns = list(dict.fromkeys(each.column for each in named if each.column is not None))
    added = {each.column for each in named if each.rule == "column_added" and each.column}
    readings = reader.find(columns, added)
    by_place = any(each.rule == "column_reordered" for each in named) and _reads_by_place(
        imported, reader
    )
    for each in changes:
        change = each.change
        reading: ColumnUse | None = None
        if change.column is None:
            reading = ColumnUse(reader.table_places(), named=True)
        elif change.rule == "column_reordered":
            reading = ColumnUse(reader.table_places(), named=False) if by_place else None
        else:
            reading = readings.get(change.column)
        if reading is not None and not _wanted(change, reading):
            yield ReadChange(imported, each, reader.model, reading)


def _wanted(change: Change, reading: ColumnUse) -> bool:
    """Whether a column is new and the query names it: it was put there on purpose."""
    return change.rule == "column_added" and reading.named and not reading.captured


def _reads_by_place(imported: LoadedImport, reader: ImportReader) -> bool:
    """Whether the columns that both interfaces have mean something else in the order of now."""
    before, after = imported.baseline, imported.snapshot
    was = before.table(reader.table) if before is not None else None
    now = after.table(reader.table) if after is not None else None
    if was is None or now is None:
        return False
    fields = now.fields
    place = {column.name.lower(): at for at, column in enumerate(was.columns)}
    kept = [field for field in fields if field.name.lower() in place]
    ordered = iter(sorted(kept, key=lambda field: place[field.name.lower()]))
    # What came stands where it stands now: only what both have is put back in the old order.
    old = tuple(next(ordered) if each.name.lower() in place else each for each in fields)
    return reader.tells_apart(old, fields)


def _all_fields(target: str, before: Interface, now: Interface) -> Fields:
    """The columns of now, and after them those that went: a query may name either."""
    was, new = before.table(target), now.table(target)
    kept = new.fields if new is not None else ()
    names = {field.name.lower() for field in kept}
    gone = was.fields if was is not None else ()
    return (*kept, *(field for field in gone if field.name.lower() not in names))


def find_readers(
    project: Project, models: Mapping[str, ModelIr], target: str
) -> Iterator[tuple[ModelFile, ModelIr]]:
    """The models that read a table themselves."""
    key = target.lower()
    for name, model in project.models.items():
        ir = models.get(name)
        if ir is not None and any(each.lower() == key for each in ir.reads):
            yield model, ir


def check_imports(found: Iterator[ReadChange]) -> list[Diagnostic]:
    """A finding for each change that is read, and one for all columns of a table that moved."""
    told: list[Diagnostic] = []
    moved: set[tuple[str, str]] = set()
    for each in found:
        if each.found.change.rule == "column_reordered":
            if (each.model.key, each.found.target) in moved:
                continue
            moved.add((each.model.key, each.found.target))
        told.append(_finding(each))
    return told


def _finding(each: ReadChange) -> Diagnostic:
    change, model = each.found.change, each.model
    code = CODES[change.rule] if not each.reading.captured else Code.IMPORT_READS_OTHERWISE
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
        notes=tuple(notes_of(change)),
    )


def notes_of(change: Change) -> Iterator[str]:
    """What a change is in detail."""
    if change.detail and change.rule != "column_reordered":
        yield change.detail
    match change.rule:
        case "strategy_changed":
            yield f"its strategy is `{change.after}` and was `{change.before}`"
        case "classification_removed":
            yield f"it was classified as `{change.before}` and no longer is"
        case "contract_weakened" if change.column is None:
            yield "its contract was strict and no longer is"
        case "contract_weakened":
            yield f"its contract had the column as `{change.before}` and no longer has it"
        case _:
            pass


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
            if change.rule == "column_reordered":
                shown = f" in place {text}"
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
        case "column_reordered":
            return f"moved {column}"
        case "model_removed":
            return f"removed the table `{target}`"
        case _:
            return f"withdrew a promise about {column if change.column else f'`{target}`'}"


def _reads(each: ReadChange) -> str:
    model = f"model `{each.model.name}`"
    if each.reading.captured:
        return f"and {model} reads something else by it"
    if each.found.change.rule == "column_reordered":
        return f"and {model} reads the table by the places of its columns"
    if each.found.change.rule == "column_added":
        return f"which {model if each.model.is_python else f'the `*` of {model}'} includes"
    return f"which {model} reads"


def _advice(each: ReadChange) -> str:
    accept = f"accept it with `rocky imports update {each.imported.name}`"
    if each.reading.captured:
        return f"say in the query which column is meant, then {accept}"
    match each.found.change.rule:
        case "column_removed" if each.reading.named:
            return "leave the column out of the query, or have the other project keep it"
        case "model_removed":
            return "read another table, or have the other project keep it"
        case "column_added":
            return f"name the columns that are wanted, or {accept}"
        case "column_reordered":
            return f"name the columns in the query, then {accept}"
        case "column_nullability_tightened":
            return accept
        case _:
            return f"see that the query is still right, then {accept}"


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
