"""Differences on a terminal and in a build: a line a change, or a change with all it reaches.

Annotations are GitHub's workflow commands, each at the line it is about. Their paths are from the
repository's top, as GitHub wants them, wherever the command runs. What is gone has no line any
more, and is placed at the file it was in.
"""

from collections.abc import Iterator
from typing import Final

import click

from rocky.analysis.changes.change import Change, Impact, TableDiff
from rocky.analysis.changes.description import (
    describe_change,
    describe_reach,
    describe_rule,
    group_kinds,
    group_reached,
)
from rocky.analysis.compilation import Compilation
from rocky.cli.render.tables import Room, describe_dropped, render_fitted
from rocky.diagnostics.render.lines import escape_message, escape_property
from rocky.diagnostics.render.terminal import lay_out
from rocky.operations.diff import DiffReport, ReachReport
from rocky.operations.revisions import Difference, describe_sides, describe_verdict

_HEAD: Final = ("IMPACT", "TABLE", "STATUS", "CHANGE", "COLUMN", "BEFORE", "AFTER", "REACHES")
_EXPENDABLE: Final = ("STATUS", "BEFORE", "AFTER")
_COLOURS: Final = {Impact.BREAKING: "red", Impact.WARNING: "yellow", Impact.INFO: "cyan"}
_COMMANDS: Final = {Impact.BREAKING: "error", Impact.WARNING: "warning", Impact.INFO: "notice"}
_SETTINGS: Final = "rocky.toml"
_SHOWN: Final = 30


def render_changes(report: DiffReport, *, colour: bool, width: int | None = None) -> str:
    """`rocky ci-diff`: a line a change, and the verdict."""
    difference = report.head.difference
    lines = [describe_sides(difference), ""]
    rows = list(_rows(difference))
    if rows:
        room = Room(width, _EXPENDABLE, "CHANGE")
        fitted = render_fitted(_HEAD, rows, set(), room)
        head, *body = fitted.text.split("\n")
        lines += [head, *(_painted(line, colour=colour) for line in body), ""]
        if fitted.dropped:
            lines += [describe_dropped(fitted.dropped), ""]
    lines += _merely_reached(difference)
    return "\n".join([*lines, describe_verdict(difference), ""])


def render_reach(report: ReachReport, *, colour: bool) -> str:
    """`rocky lineage-diff`: each change, and below it every column it reaches, by model."""
    difference = report.head.difference
    lines = [describe_sides(difference), ""]
    for table, change in difference.shown.changes:
        name = table.name if table else _SETTINGS
        head = f"{change.impact.value}  {name}: {describe_change(change)}"
        lines += [_painted(_one_line(head), colour=colour), *_reach_lines(change), ""]
    lines += _merely_reached(difference)
    return "\n".join([*lines, describe_verdict(difference), ""])


def _rows(difference: Difference) -> Iterator[tuple[str, ...]]:
    for table, change in difference.shown.changes:
        words = describe_rule(change)
        yield (
            change.impact.value,
            _one_line(table.name if table else _SETTINGS),
            table.status if table else "",
            _one_line(f"{words} ({change.detail})" if change.detail else words),
            _one_line(change.column),
            _one_line(change.before),
            _one_line(change.after),
            describe_reach(change),
        )


def _merely_reached(difference: Difference) -> list[str]:
    """The tables that have no change of their own, in one line."""
    names = [_one_line(table.name) for table in difference.merely_reached]
    if not names:
        return []
    rest = len(names) - _SHOWN
    more = f" and {rest:,} more (`-o json` has them all)" if rest > 0 else ""
    return [f"reached by these changes: {', '.join(names[:_SHOWN])}{more}", ""]


def _one_line(text: str | None) -> str:
    """A text as one line, in which a name cannot hide an escape sequence."""
    return lay_out((text or "").replace("\n", " ")).shown


def _reach_lines(change: Change) -> Iterator[str]:
    if not change.reaches:
        return
    yield f"  reaches {describe_reach(change)}"
    for model, reached in group_reached(change.reaches).items():
        told = [f"{', '.join(columns)} ({kind})" for kind, columns in group_kinds(reached).items()]
        yield _one_line(f"    {model}: {'; '.join(told)}")


def _painted(line: str, *, colour: bool) -> str:
    """The impact, which comes first in a line, in its colour."""
    if not colour:
        return line
    for impact, name in _COLOURS.items():
        if line.startswith(impact.value):
            return click.style(impact.value, fg=name, bold=True) + line[len(impact.value) :]
    return line


# ---------------------------------------------------------------------------- annotations


def render_annotations(report: DiffReport | ReachReport) -> str:
    """One workflow command a change; those that break first, since GitHub shows only some."""
    difference = report.head.difference
    head, prefix = difference.sides.head, difference.sides.prefix
    order = list(Impact)
    changes = sorted(difference.shown.changes, key=lambda each: order.index(each[1].impact))
    return "".join(_command(table, change, head, prefix) for table, change in changes)


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
