"""Differences on a terminal: a line a change, or a change with everything it reaches."""

from collections.abc import Iterator
from typing import Final

import click

from rocky.analysis.changes.change import Change, Impact
from rocky.cli.render.diff import (
    DiffView,
    describe_change,
    describe_reach,
    describe_rule,
    describe_sides,
    describe_verdict,
    group_kinds,
    group_reached,
)
from rocky.cli.render.fitting import Room, describe_dropped, render_fitted
from rocky.diagnostics.render.terminal import lay_out

_HEAD: Final = ("IMPACT", "TABLE", "STATUS", "CHANGE", "COLUMN", "BEFORE", "AFTER", "REACHES")
_EXPENDABLE: Final = ("STATUS", "BEFORE", "AFTER")
_COLOURS: Final = {Impact.BREAKING: "red", Impact.WARNING: "yellow", Impact.INFO: "cyan"}
_SETTINGS: Final = "rocky.toml"
_SHOWN: Final = 30


def render_changes(view: DiffView, *, colour: bool, width: int | None = None) -> str:
    """`rocky ci-diff`: a line a change, and the verdict."""
    lines = [describe_sides(view), ""]
    rows = list(_rows(view))
    if rows:
        room = Room(width, _EXPENDABLE, "CHANGE")
        fitted = render_fitted(_HEAD, rows, set(), room)
        head, *body = fitted.text.split("\n")
        lines += [head, *(_painted(line, colour=colour) for line in body), ""]
        if fitted.dropped:
            lines += [describe_dropped(fitted.dropped), ""]
    lines += _merely_reached(view)
    return "\n".join([*lines, describe_verdict(view), ""])


def render_lineage(view: DiffView, *, colour: bool) -> str:
    """`rocky lineage-diff`: each change, and below it every column it reaches, by model."""
    lines = [describe_sides(view), ""]
    for table, change in view.shown.changes:
        name = table.name if table else _SETTINGS
        head = f"{change.impact.value}  {name}: {describe_change(change)}"
        lines += [_painted(_one_line(head), colour=colour), *_reach_lines(change), ""]
    lines += _merely_reached(view)
    return "\n".join([*lines, describe_verdict(view), ""])


def _rows(view: DiffView) -> Iterator[tuple[str, ...]]:
    for change in view.shown.settings:
        yield _row(change, _SETTINGS, "")
    for table in view.shown.tables:
        for change in table.changes:
            yield _row(change, table.name, table.status)


def _merely_reached(view: DiffView) -> list[str]:
    """The tables that have no change of their own, in one line."""
    names = [_one_line(table.name) for table in view.merely_reached]
    if not names:
        return []
    rest = len(names) - _SHOWN
    more = f" and {rest:,} more (`-o json` has them all)" if rest > 0 else ""
    return [f"reached by these changes: {', '.join(names[:_SHOWN])}{more}", ""]


def _row(change: Change, name: str, status: str) -> tuple[str, ...]:
    words = describe_rule(change)
    return (
        change.impact.value,
        _one_line(name),
        status,
        _one_line(f"{words} ({change.detail})" if change.detail else words),
        _one_line(change.column),
        _one_line(change.before),
        _one_line(change.after),
        describe_reach(change),
    )


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
