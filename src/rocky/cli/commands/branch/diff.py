"""`rocky branch diff`: the rows of a branch's tables beside production's."""

from typing import Final

import click

from rocky.branches.row_diff import (
    ChangedRow,
    ColumnChange,
    DataDiff,
    KeySource,
    OtherSide,
    TableDifference,
)
from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import BranchCommand, Settings
from rocky.cli.render.tables import NULL, format_count
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.diagnostics.render.terminal import lay_out
from rocky.operations.branch.diff import DataDiffReport, DiffRequest, diff

REPORTS: Final = {"branch diff": DataDiffReport}
_WIDEST: Final = 60


@click.command("diff", cls=BranchCommand)
@click.argument("name")
@click.argument("models", nargs=-1)
@click.option(
    "--key",
    multiple=True,
    metavar="COLUMN",
    help="A column that identifies a row. Repeatable. Default: what the model declares.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="Changed rows to show of each table.",
)
@click.option(
    "--to",
    type=click.Choice(["production", "base"]),
    default="production",
    show_default=True,
    help="Compare with the tables now, or with those the branch was made from.",
)
@click.pass_obj
def diff_command(
    settings: Settings,
    name: str,
    models: tuple[str, ...],
    key: tuple[str, ...],
    sample: int,
    to: OtherSide,
) -> ExitCode:
    """Compare the rows of a branch with production's.

    MODELS are names of models, or full names of tables; without any, all are compared. Only files
    that one side alone has are read, on Spark; Spark is not started when there are none.
    """
    with note_start(settings) as workspace:
        report = diff(workspace, DiffRequest(name, models, key, sample, to))
    if settings.json:
        write_report("branch diff", report)
    else:
        write_line(_render_diff(report))
    return ExitCode.OK


def _render_diff(diff: DataDiff) -> str:
    """A paragraph a table, and how many have the same rows."""
    against = diff.parent if diff.compared_with == "production" else "what it was made of"
    if not diff.tables:
        return (
            f"branch {diff.branch}: {counted(diff.same, 'table')} with the same rows as {against}"
        )
    verb = "differs" if len(diff.tables) == 1 else "differ"
    lines = [f"branch {diff.branch}: {counted(len(diff.tables), 'table')} {verb} from {against}"]
    for table in diff.tables:
        lines += ["", *_render_table(table)]
    if diff.same:
        lines += ["", f"the rows of {counted(diff.same, 'table')} are the same"]
    return "\n".join(lines)


def _render_table(table: TableDifference) -> list[str]:
    after = format_count(table.rows_after)
    if table.rows_before is None:
        return [f"{table.target}: new, {after} rows"]
    lines = [f"{table.target}: {format_count(table.rows_before)} -> {after} rows{_found_by(table)}"]
    counts = [f"{format_count(table.added)} added", f"{format_count(table.removed)} removed"]
    if table.changed is not None:
        counts.append(f"{format_count(table.changed)} changed")
    lines.append(f"  rows: {', '.join(counts)}")
    if table.duplicate_keys:
        lines.append(
            f"  {counted(table.duplicate_keys, 'key')} with several rows: a changed row counts as"
            " one removed and one added"
        )
    lines += [f"  column {_shown_change(each)}" for each in table.column_changes]
    if table.changed_by_column:
        listed = (
            f"{name} {format_count(count)}" for name, count in table.changed_by_column.items()
        )
        lines.append(f"  changed: {', '.join(listed)}")
    if table.columns_not_compared:
        lines.append(f"  not compared: {', '.join(table.columns_not_compared)}")
    lines += [f"  {_shown_row(each)}" for each in table.sample]
    return lines


def _found_by(table: TableDifference) -> str:
    if table.key_source is KeySource.NOBODY:
        return ", without a key (`--key` names one)"
    return f", by {', '.join(table.key)}"


def _shown_change(change: ColumnChange) -> str:
    sides = " -> ".join(each for each in (change.before, change.after) if each is not None)
    return f"{change.column}: {change.rule.removeprefix('column_').replace('_', ' ')} ({sides})"


def _shown_row(row: ChangedRow) -> str:
    key = ", ".join(f"{name} = {_shown(value)}" for name, value in row.key.items())
    values = ", ".join(
        f"{name} {_shown(change.before)} -> {_shown(change.after)}"
        for name, change in row.columns.items()
    )
    return f"{key}: {values}"


def _shown(value: str | None) -> str:
    """A value on one line, with control characters made visible, cut where it is long."""
    if value is None:
        return NULL
    shown = lay_out(value[:_WIDEST]).shown
    return f"{shown}…" if len(value) > _WIDEST else shown
