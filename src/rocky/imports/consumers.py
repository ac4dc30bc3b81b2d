"""Consumers: what the projects that read this one would lose by what its models give now.

A consumer says in its own interface file which columns it reads and as what it accepted them. The
findings are those that it would have, told to the one who can still do otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rocky.changes.change import Change
from rocky.changes.columns import compare_columns
from rocky.contracts.places import column_place
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.codes import severity_of
from rocky.imports.findings import CODES
from rocky.imports.publishing import project_name
from rocky.ir.model import ModelIr
from rocky.project import ModelFile, Project
from rocky.project.interfaces import Interface, InterfaceRead, load_interface
from rocky.project.strategies import has_target
from rocky.source import Span

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
    project: Project, models: Mapping[str, ModelIr], consumers: Sequence[Interface]
) -> list[Diagnostic]:
    """What the models as they are would break of what consumers read.

    Raises InterfaceRefused when nothing says what consumers call this project.
    """
    name = project_name(project)
    by_target = {
        model.target.key: model for model in project.models.values() if has_target(model.strategy)
    }
    found: list[Diagnostic] = []
    for consumer in consumers:
        for read in consumer.reads:
            if read.project != name:
                continue
            model = by_target.get(read.table.lower())
            if model is None:
                found.append(_removed(project, consumer, read))
            elif model.key in models:
                found += _broken(consumer, read, model, models[model.key])
    return found


def _broken(
    consumer: Interface, read: InterfaceRead, model: ModelFile, ir: ModelIr
) -> Iterator[Diagnostic]:
    for change in compare_columns(read.columns, ir.columns, complete=ir.known):
        code = CODES.get(change.rule)
        if code is None or (change.rule == "column_added" and not read.whole):
            continue
        yield Diagnostic(
            code,
            f"{_clause(change, model)}, which `{consumer.project}` reads",
            _place(model, ir, change),
            model.path,
            severity_of(code),
            help=_advice(change, consumer),
            model=model.name,
            notes=tuple(_notes(consumer, read, change)),
        )


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
        case _:
            return f"{column} is new"


def _place(model: ModelFile, ir: ModelIr, change: Change) -> Span | None:
    column = ir.column(change.column or "")
    return column_place(model, ir, column) if column is not None else None


def _advice(change: Change, consumer: Interface) -> str:
    if change.rule == "column_removed":
        return f"keep producing it until `{consumer.project}` reads it no more"
    if change.rule == "column_added":
        return f"`{consumer.project}` reads all columns: tell them"
    return f"agree on it with `{consumer.project}`, who accepts it with `rocky imports update`"


def _notes(consumer: Interface, read: InterfaceRead, change: Change) -> Iterator[str]:
    if change.detail:
        yield change.detail
    readers = read.whole
    for column in read.columns:
        if change.column is not None and column.name.lower() == change.column.lower():
            readers = column.by
    yield f"read in `{consumer.project}` by {_listed(readers)}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown


def _removed(project: Project, consumer: Interface, read: InterfaceRead) -> Diagnostic:
    return Diagnostic(
        Code.IMPORT_TABLE_REMOVED,
        f"no model writes table `{read.table}` any more, which `{consumer.project}` reads",
        None,
        project.config_path,
        help=f"keep the table until `{consumer.project}` reads it no more",
        notes=(f"read in `{consumer.project}` by {_listed(read.by)}",),
    )
