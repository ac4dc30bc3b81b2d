"""Consumers: what the projects that read this one would lose by what its models give now.

A consumer says in its own interface file which columns it reads and as what it accepted them. The
findings are those that it would have, told to the one who can still do otherwise.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rocky.analysis.changes.change import Change
from rocky.analysis.changes.columns import compare_columns
from rocky.analysis.changes.declarations import compare_promises
from rocky.analysis.classification import Classifications
from rocky.analysis.contracts.findings import column_place
from rocky.analysis.imports.findings import CODES, notes_of
from rocky.analysis.imports.publication import project_name, table_of
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.language.ir import ModelIr
from rocky.project import ModelFile, Project
from rocky.project.configuration.strategies import has_target
from rocky.project.interfaces import (
    Interface,
    InterfaceColumn,
    InterfaceRead,
    InterfaceTable,
    load_interface,
)
from rocky.project.project import shown_target

_SHOWN: Final = 8


def load_consumers(paths: Sequence[Path]) -> tuple[list[Interface], list[Diagnostic]]:
    """The interfaces in some files, and what is wrong with those that cannot be used."""
    found: list[Interface] = []
    wrong: list[Diagnostic] = []
    for path in paths:
        loaded = load_interface(str(path.parent), path.name)
        if isinstance(loaded, Interface):
            found.append(loaded)
            continue
        # Its file is none of the project's, so there is no place to point to.
        message = f"the consumer at `{path}`: {loaded.message}"
        advice = "have the other project publish it again, or name another file"
        wrong.append(Diagnostic(loaded.code, message, help=advice))
    return found, wrong


def check_consumers(
    project: Project,
    models: Mapping[str, ModelIr],
    consumers: Sequence[Interface],
    published: Collection[str],
    facts: Classifications,
) -> list[Diagnostic]:
    """What the models as they are would break of what consumers read; `published` are their keys.

    Raises InterfaceRefused when nothing says what consumers call this project.
    """
    name = project_name(project)
    by_target = {
        shown_target(project, model).key: model
        for key, model in project.models.items()
        if has_target(model.strategy) and key not in project.twins
    }
    found: list[Diagnostic] = []
    for consumer in consumers:
        reads = list(_ours(consumer, name, by_target))
        if not reads:
            found.append(_reads_nothing(project, consumer, name))
        for read in reads:
            model = by_target.get(read.table.lower())
            if model is None or model.key not in published:
                found.append(_removed(project, consumer, read, model))
            elif model.key in models:
                table = table_of(project, model, models[model.key], facts)
                found += _broken(consumer, read, model, models[model.key], table)
    return found


def _ours(
    consumer: Interface, name: str, by_target: Mapping[str, ModelFile]
) -> Iterator[InterfaceRead]:
    """The reads of this project, also under a name that it had before."""
    names = {name, *(each.project for each in consumer.reads if each.table.lower() in by_target)}
    return (each for each in consumer.reads if each.project in names)


def _reads_nothing(project: Project, consumer: Interface, name: str) -> Diagnostic:
    """Nothing to check is no reason to call it checked: the project may have another name now."""
    others = sorted({each.project for each in consumer.reads})
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"consumer `{consumer.project}` reads no table of this project, which is called `{name}`",
        None,
        project.config_path,
        help="name the project in `[publish]` as the consumer knows it, or leave the file out",
        notes=(f"it reads {_listed(others)}" if others else "it reads no other project",),
    )


def _broken(
    consumer: Interface, read: InterfaceRead, model: ModelFile, ir: ModelIr, table: InterfaceTable
) -> Iterator[Diagnostic]:
    changes = [*compare_columns(read.columns, ir.columns, complete=ir.known)]
    changes += compare_promises(_accepted(read, table), table)
    moved = [each for each in changes if each.rule == "column_reordered"]
    for change in changes:
        found = _told(change, read)
        if found is None or change in moved[1:]:
            continue
        code, readers = found
        yield Diagnostic(
            code,
            f"{_clause(change, model)}, {_reads(change, code, consumer)}",
            _place(model, ir, change),
            model.path,
            severity_of(code),
            help=_advice(change, consumer),
            model=model.name,
            notes=(*notes_of(change), f"read in `{consumer.project}` by {_listed(readers)}"),
        )


def _accepted(read: InterfaceRead, table: InterfaceTable) -> InterfaceTable:
    """The table as a consumer accepted it; a file that does not say the strategy has no view."""
    columns = tuple(
        InterfaceColumn(each.name, each.type, each.nullable, None, each.classification)
        for each in read.columns
    )
    strategy = read.strategy or table.strategy
    return InterfaceTable(table.name, table.target, columns, strategy, read.contract)


def _told(change: Change, read: InterfaceRead) -> tuple[Code, Sequence[str]] | None:
    """The code of a change, and which of the consumer's models it is about."""
    code = CODES.get(change.rule)
    readers: Sequence[str] = read.by
    if change.rule == "column_reordered":
        readers = read.ordered
    elif change.rule == "column_added" and read.exact:
        code, readers = Code.IMPORT_READS_OTHERWISE, read.exact
    elif change.rule == "column_added":
        readers = read.whole
    elif change.column is not None:
        name = change.column.lower()
        readers = next((each.by for each in read.columns if each.name.lower() == name), ())
    return (code, readers) if code is not None and readers else None


def _clause(change: Change, model: ModelFile) -> str:
    column = f"column `{change.column}` of model `{model.name}`"
    match change.rule:
        case "column_removed":
            return f"model `{model.name}` no longer produces column `{change.column}`"
        case "column_type_changed":
            return f"{column} is `{change.after}` and was accepted as `{change.before}`"
        case "column_type_widened":
            return f"{column} is widened from `{change.before}` to `{change.after}`"
        case "column_nullability_loosened":
            return f"{column} can be null and was accepted as NOT NULL"
        case "column_nullability_tightened":
            return f"{column} is NOT NULL and was accepted as nullable"
        case "column_reordered":
            return f"{column} is at another position"
        case "column_added":
            return f"{column} is new"
        case _ if change.column is None:
            return f"a promise about model `{model.name}` is withdrawn"
        case _:
            return f"a promise about {column} is withdrawn"


def _reads(change: Change, code: Code, consumer: Interface) -> str:
    if change.rule == "column_reordered":
        return f"and `{consumer.project}` reads the table by the places of its columns"
    if code is Code.IMPORT_READS_OTHERWISE:
        return f"and `{consumer.project}` reads something else by it"
    return f"which `{consumer.project}` reads"


def _place(model: ModelFile, ir: ModelIr, change: Change) -> Span | None:
    column = ir.column(change.column or "")
    return column_place(model, ir, column) if column is not None else None


def _advice(change: Change, consumer: Interface) -> str:
    if change.rule == "column_removed":
        return f"keep producing it until `{consumer.project}` no longer reads it"
    if change.rule == "column_added":
        return f"`{consumer.project}` reads all columns: tell them"
    if change.rule == "column_reordered":
        return "put it back: columns are read by their places"
    return f"agree on it with `{consumer.project}`, who accepts it with `rocky imports update`"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _removed(
    project: Project, consumer: Interface, read: InterfaceRead, model: ModelFile | None
) -> Diagnostic:
    what = f"no model writes table `{read.table}` any more"
    if model is not None:
        what = f"table `{read.table}` of model `{model.name}` is no longer published"
    return Diagnostic(
        Code.IMPORT_TABLE_REMOVED,
        f"{what}, which `{consumer.project}` reads",
        None,
        project.config_path,
        help=f"keep the table until `{consumer.project}` no longer reads it",
        notes=(f"read in `{consumer.project}` by {_listed(read.by)}",),
    )
