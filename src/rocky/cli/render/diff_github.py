"""Differences as GitHub's workflow commands: each change at the line it is about.

Paths are from the repository's top, as GitHub wants them, wherever the command runs. What is gone
has no line any more, and is placed at the file it was in.
"""

from typing import Final

from rocky.analysis.changes.change import Change, Impact, TableDiff
from rocky.analysis.compilation import Compilation
from rocky.cli.render.diff import DiffView, describe_change, describe_reach
from rocky.diagnostics.render.lines import escape_message, escape_property

_COMMANDS: Final = {Impact.BREAKING: "error", Impact.WARNING: "warning", Impact.INFO: "notice"}


def render_annotations(view: DiffView) -> str:
    """One workflow command a change; those that break first, since GitHub shows only some."""
    head = view.sides.head
    order = list(Impact)
    changes = sorted(view.shown.changes, key=lambda each: order.index(each[1].impact))
    return "".join(_command(table, change, head, view.sides.prefix) for table, change in changes)


def _command(table: TableDiff | None, change: Change, head: Compilation, prefix: str) -> str:
    path = head.project.config_path if table is None else table.path or table.base_path
    properties = []
    if path is not None:
        properties.append(("file", f"{prefix}{path}"))
        line = find_line(head, table, change.column)
        if line is not None:
            properties.append(("line", str(line)))
    properties.append(("title", f"{change.impact.value}: {change.rule}"))
    body = describe_change(change)
    if table is not None:
        body = f"{table.name}: {body}"
    reach = describe_reach(change)
    if reach:
        body += f"\nreaches {reach}"
    values = ",".join(f"{name}={escape_property(value)}" for name, value in properties)
    return f"::{_COMMANDS[change.impact]} {values}::{escape_message(body)}\n"


def find_line(head: Compilation, table: TableDiff | None, column: str | None) -> int | None:
    """The line of the head's file where a column is made; None when it has none of its own."""
    if table is None or table.kind != "model" or column is None:
        return None
    key = table.name.lower()
    model = head.project.models.get(key)
    if model is None or key not in head.models:
        return None
    found = head.models[key].column(column)
    if found is None or found.span is None:
        return None
    place = model.place_in_file(found.span)
    return head.project.texts[model.path].position(place.start)[0]
