"""Branches, as text for people and as JSON documents."""

from collections.abc import Sequence
from typing import Any

from rocky.branches.tables import BranchTable, BranchView, same_content
from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_count, format_moment
from rocky.ledger.branch_records import BranchRecord


def branch_document(record: BranchRecord) -> dict[str, Any]:
    """A branch as it is recorded."""
    return record.to_json()


def render_created(record: BranchRecord) -> str:
    """What to say when a branch was made."""
    after = f", as {record.from_run} left it" if record.from_run is not None else ""
    lines = [
        f"branch {record.name}: {counted(len(record.tables), 'table')} of {record.parent}{after},"
        " no data copied",
        f"next: rocky run --branch {record.name}",
    ]
    return "\n".join(lines)


def render_branches(records: Sequence[BranchRecord], *, quiet: bool = False) -> str:
    """All branches, one a line."""
    if not records:
        return "no branches" + ("" if quiet else "; `rocky branch create NAME` makes one")
    rows = [
        (
            each.name,
            each.parent,
            str(len(each.tables)),
            format_moment(each.created_at),
            each.created_by,
            each.status.value,
            each.description or "",
        )
        for each in records
    ]
    heads = ("BRANCH", "OF", "TABLES", "CREATED (UTC)", "BY", "STATUS", "FOR")
    return render_table(heads, rows, {2})


def view_document(view: BranchView) -> dict[str, Any]:
    """A branch and its tables."""
    return {
        "branch": branch_document(view.record),
        "tables": [_table_document(each) for each in view.tables.values()],
    }


def _table_document(table: BranchTable) -> dict[str, Any]:
    found = {
        "target": table.target,
        "status": status_of(table),
        "base_version": table.base,
        "branch_version": None if table.branch is None else table.branch.version,
        "production_version": None if table.production is None else table.production.version,
        "rows": None if table.branch is None else table.branch.rows,
        "production_rows": None if table.production is None else table.production.rows,
        "content": table.content,
    }
    return {key: value for key, value in found.items() if value is not None}


def status_of(table: BranchTable) -> str:
    """How a table of a branch stands to its parent's."""
    if same_content(table.branch, table.production):
        return "same"
    if table.made_of is None:
        return "added"
    if table.is_changed:
        return "conflict" if table.has_moved else "changed"
    return "behind" if table.has_moved else "same"


def render_view(view: BranchView) -> str:
    """A branch and its tables; those that are as they were made are only counted."""
    record = view.record
    lines = [
        f"branch {record.name} of {record.parent}, made {format_moment(record.created_at)}"
        f" by {record.created_by}",
        f"tables in {record.warehouse}",
    ]
    if record.description:
        lines.append(record.description)
    shown = [each for each in view.tables.values() if status_of(each) != "same"]
    if shown:
        heads = ("TABLE", "STATUS", "ROWS", f"IN {record.parent.upper()}")
        rows = [
            (each.target, status_of(each), _rows(each.branch), _rows(each.production))
            for each in shown
        ]
        lines += ["", render_table(heads, rows, {2, 3})]
    same = len(view.tables) - len(shown)
    if same:
        lines.append(f"{counted(same, 'table')} as in {record.parent}")
    return "\n".join(lines)


def _rows(snapshot: Any) -> str:
    return NOTHING if snapshot is None else format_count(snapshot.rows)
