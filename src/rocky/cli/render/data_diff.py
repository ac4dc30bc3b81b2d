"""Differences of rows, as text for people and as a JSON document."""

from typing import Any

from rocky.analysis.changes.change import Change
from rocky.branches.row_diff import ChangedRow, DataDiff, KeySource, TableDifference
from rocky.cli.render.compilation import counted
from rocky.cli.render.units import NULL, format_count
from rocky.diagnostics.render.terminal import lay_out

_WIDEST = 60


def diff_document(diff: DataDiff) -> dict[str, Any]:
    """What `rocky branch diff -o json` prints."""
    return {
        "branch": diff.branch,
        "parent": diff.parent,
        "compared_with": diff.compared_with,
        "tables": [_table_document(each) for each in diff.tables],
        "same": diff.same,
    }


def _table_document(table: TableDifference) -> dict[str, Any]:
    document: dict[str, Any] = {
        "target": table.target,
        "rows_before": table.rows_before,
        "rows_after": table.rows_after,
        "added": table.added,
        "removed": table.removed,
        "changed": table.changed,
        "key": list(table.key.columns),
        "key_source": table.key.source.value,
        "duplicate_keys": table.duplicate_keys,
        "column_changes": [_change_document(each) for each in table.columns],
        "changed_by_column": dict(table.per_column),
        "columns_not_compared": list(table.not_compared),
        "sample": [_row_document(each) for each in table.sample],
        "files_read": table.files_read,
        "files_shared": table.files_shared,
    }
    return {name: value for name, value in document.items() if value is not None}


def _change_document(change: Change) -> dict[str, Any]:
    found = {
        "rule": change.rule,
        "impact": change.impact.value,
        "column": change.column,
        "before": change.before,
        "after": change.after,
    }
    return {name: value for name, value in found.items() if value is not None}


def _row_document(row: ChangedRow) -> dict[str, Any]:
    return {
        "key": dict(row.key),
        "columns": {
            name: {"before": before, "after": after} for name, (before, after) in row.values.items()
        },
    }


def render_diff(diff: DataDiff) -> str:
    """A paragraph a table, and how many have the same rows."""
    against = diff.parent if diff.compared_with == "production" else "what it was made of"
    if not diff.tables:
        return f"branch {diff.branch}: the rows of {counted(diff.same, 'table')} as in {against}"
    lines = [f"branch {diff.branch}: {counted(len(diff.tables), 'table')} not as in {against}"]
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
            f"  {counted(table.duplicate_keys, 'key')} of several rows: a changed row counts as one"
            " removed and one added"
        )
    lines += [f"  column {_shown_change(each)}" for each in table.columns]
    if table.per_column:
        listed = (f"{name} {format_count(count)}" for name, count in table.per_column.items())
        lines.append(f"  changed: {', '.join(listed)}")
    if table.not_compared:
        lines.append(f"  not compared: {', '.join(table.not_compared)}")
    lines += [f"  {_shown_row(each)}" for each in table.sample]
    return lines


def _found_by(table: TableDifference) -> str:
    if table.key.source is KeySource.NOBODY:
        return ", without a key (`--key` names one)"
    return f", by {', '.join(table.key.columns)}"


def _shown_change(change: Change) -> str:
    sides = " -> ".join(each for each in (change.before, change.after) if each is not None)
    return f"{change.column}: {change.rule.removeprefix('column_').replace('_', ' ')} ({sides})"


def _shown_row(row: ChangedRow) -> str:
    key = ", ".join(f"{name} = {_shown(value)}" for name, value in row.key.items())
    values = ", ".join(
        f"{name} {_shown(before)} -> {_shown(after)}"
        for name, (before, after) in row.values.items()
    )
    return f"{key}: {values}"


def _shown(value: str | None) -> str:
    """A value on one line, with control characters made visible, cut where it is long."""
    if value is None:
        return NULL
    shown = lay_out(value[:_WIDEST]).shown
    return f"{shown}…" if len(value) > _WIDEST else shown
