"""Where upstream columns are declared: labels of the binder get their file and place here.

The binder knows which column of which table an expression is; only the project knows whether that
is a line of a source's TOML, a seed's header or another model's select list.
"""

from collections.abc import Mapping
from dataclasses import replace

from rocky.diagnostics import Diagnostic, Label
from rocky.ir.model import ModelIr
from rocky.project import Project


def place_origins(
    diagnostic: Diagnostic, project: Project, models: Mapping[str, ModelIr]
) -> Diagnostic:
    """The diagnostic with its upstream labels placed; a label nobody can place is dropped."""
    if all(label.column is None for label in diagnostic.labels):
        return diagnostic
    placed = (
        label if label.column is None else _place(label, label.column, project, models)
        for label in diagnostic.labels
    )
    return replace(diagnostic, labels=tuple(label for label in placed if label is not None))


def _place(
    label: Label, origin: tuple[str, str], project: Project, models: Mapping[str, ModelIr]
) -> Label | None:
    table, column = origin[0].lower(), origin[1].lower()
    if table in models:
        model, ir = project.models[table], models[table]
        produced = ir.column(column)
        if produced is None or produced.span is None:
            return None
        return Label(model.place_in_file(produced.span), label.message, model.path)
    declared = project.sources.get(table) or project.seeds.get(table)
    if declared is None:
        return None
    for field, place in zip(declared.columns, declared.column_places, strict=False):
        if field.name.lower() == column and place is not None:
            return Label(place, label.message, declared.file)
    return None
