"""`rocky ci-diff` and `rocky lineage-diff`: what a change does, and what it reaches.

Annotations are GitHub's workflow commands, each at the line it is about. Their paths are from the
repository's top, as GitHub wants them, wherever the command runs. What is gone has no line any
more, and is placed at the file it was in.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, get_args

import click

from rocky.analysis.changes.change import (
    Change,
    Impact,
    TableDiff,
    describe_change,
    describe_reach,
    describe_rule,
    group_kinds,
    group_reached,
)
from rocky.analysis.changes.missing_plans import describe_uncompared
from rocky.analysis.compilation import Compilation
from rocky.cli.console import ExitCode, write_line, write_note, write_report, write_text
from rocky.cli.options import Output, RockyCommand, Settings, format_option, style_in_build
from rocky.cli.render.findings import render_findings
from rocky.cli.render.tables import Room, describe_dropped, render_fitted, terminal_width
from rocky.diagnostics.render.lines import escape_message, escape_property
from rocky.diagnostics.render.terminal import lay_out
from rocky.operations.changes.broken_sides import BrokenSidesReport, SidesBroken
from rocky.operations.changes.diff import DiffReport, DiffRequest, FailOn, ReachReport, diff
from rocky.operations.changes.revisions import Difference, describe_sides, describe_verdict

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


def render_part(report: BrokenSidesReport, *, colour: bool) -> str:
    """What could be compared although a side does not compile; empty when nothing could."""
    if report.part is None or not report.part.compared:
        return ""
    told = []
    for table, change in report.part.diff.changes:
        line = f"{table.name if table else _SETTINGS}: {describe_change(change)}"
        reach = describe_reach(change)
        line += f"; reaches {reach}" if reach else ""
        told.append(_painted(_one_line(f"{change.impact.value}  {line}"), colour=colour))
    lost = [
        _one_line(f"broken  {each.name}: lost {', '.join(each.lost)}")
        for each in report.part.broken
        if each.lost
    ]
    return "\n".join(["what could be compared:", "", *(told or ["no change"]), *lost, ""])


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
    level = "error" if report.head.unseen else "warning"
    uncompared = (
        f"::{level} file={escape_property(f'{prefix}{each.path}')},title=not compared"
        f"::{escape_message(describe_uncompared((each,)))}\n"
        for each in difference.shown.uncompared
    )
    told = (_command(table, change, head, prefix) for table, change in changes)
    return "".join((*uncompared, *told))


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


REPORTS: Final = {
    "ci-diff": DiffReport | BrokenSidesReport,
    "lineage-diff": ReachReport | BrokenSidesReport,
}


class DiffCommand(RockyCommand):
    """A command whose `--format` also has the two forms of `--output`."""

    def invoke(self, ctx: click.Context) -> Any:
        style, output = ctx.params.get("style"), ctx.params.get("output")
        if style is not None and output is not None and style != output:
            raise click.UsageError(
                f"`--format {style}` and `-o {output}` contradict each other", ctx
            )
        if style in list(Output):
            ctx.params["style"], ctx.params["output"] = None, style
        return super().invoke(ctx)


def diff_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument and the options that both commands take."""
    for decorate in (
        format_option(
            ("table", "json", "markdown", "github"),
            "markdown for a comment, github for annotations. Default: as `--output`.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(get_args(FailOn)),
            help="Exit 1 when something breaks readers, or when anything differs.",
        ),
        click.option(
            "--model",
            "models",
            multiple=True,
            metavar="MODEL",
            help="Report on this model only, by the name it has or had.",
        ),
        click.option(
            "--exact", is_flag=True, help="Compare with BASE itself, not with the merge base."
        ),
        click.argument("base", required=False),
    ):
        command = decorate(command)
    return command


@click.command("ci-diff", cls=DiffCommand)
@diff_options
@click.pass_obj
def ci_diff(
    settings: Settings,
    base: str | None,
    exact: bool,
    models: tuple[str, ...],
    fail_on: FailOn | None,
    style: str | None,
) -> ExitCode:
    """Show what changed since BASE, and what breaks.

    BASE is a branch, tag or commit; without one it is the branch that a pull request goes to, else
    main, master or the remote's. The working tree counts as it is, committed or not.
    """
    request = DiffRequest(base, exact, models, fail_on)
    return _compare(settings, request, style_in_build(settings, style))


@click.command("lineage-diff", cls=DiffCommand)
@diff_options
@click.pass_obj
def lineage_diff(
    settings: Settings,
    base: str | None,
    exact: bool,
    models: tuple[str, ...],
    fail_on: FailOn | None,
    style: str | None,
) -> ExitCode:
    """Show every column that the changes since BASE reach.

    BASE is a branch, tag or commit; without one it is the branch that a pull request goes to, else
    main, master or the remote's. What a removed column reached is read from the base.
    """
    return _compare(settings, DiffRequest(base, exact, models, fail_on, reach=True), style)


def _compare(settings: Settings, request: DiffRequest, style: str | None) -> ExitCode:
    try:
        report = diff(settings.workspace, request)
    except SidesBroken as broken:
        _show_broken(settings, broken.report)
        return ExitCode.FAILED
    _show(settings, report, style)
    head = report.head
    if head.unseen or (not settings.json and not settings.quiet):
        for note in head.notes:
            write_note(f"{'error' if head.unseen else 'note'}: {note}")
    return ExitCode.FAILED if head.failed else ExitCode.OK


def _show(settings: Settings, report: DiffReport | ReachReport, style: str | None) -> None:
    if style == "github":
        write_text(render_annotations(report))
        if not settings.quiet:
            write_line(describe_verdict(report.head.difference))
    elif style == "markdown":
        write_text(report.markdown)
    elif settings.json:
        write_report(settings.command, report)
    elif isinstance(report, DiffReport):
        write_text(render_changes(report, colour=settings.colour, width=terminal_width()))
    else:
        write_text(render_reach(report, colour=settings.colour))


def _show_broken(settings: Settings, report: BrokenSidesReport) -> None:
    """Say which side has errors, and show them."""
    if settings.json:
        write_report(settings.command, report)
    else:
        for each in report.broken:
            # Not the answer that was asked for, which may be on its way into a file.
            write_note(f"errors of {each.shown}:\n")
            write_note(render_findings(each.found, each.project, "full", colour=settings.colour))
        part = render_part(report, colour=settings.colour)
        if part:
            write_note(part)
    write_note(f"error: {report.error.message}")
