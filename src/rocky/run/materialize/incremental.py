"""incremental: rows above the watermark are appended, and the watermark moves in the same commit.

The high end is taken before rows are copied, so a row that arrives in between waits for the next
run. A watermark is a type and a text that Spark casts back to exactly the value, never the clock's
word. Two runs that began from one watermark cannot both append: the second is refused.
"""

import json
from dataclasses import dataclass

from rocky.canonical import line_json
from rocky.errors import ModelFailed, StoreUnreadable
from rocky.language.datatypes.types import DataType
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.strategies import Incremental
from rocky.run.engine.protocol import Written
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.evolution import open_base
from rocky.run.materialize.workspace import (
    Outcome,
    StartingPoint,
    Workspace,
    add_hashes,
    commit_outcome,
    commit_replacement,
    open_workspace,
)
from rocky.store.delta.change import Committed, Operation
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK, Snapshot


@dataclass(frozen=True, slots=True)
class Watermark:
    """A value of a column, as Spark prints it."""

    column: str
    type: str
    value: str

    @property
    def sql(self) -> str:
        return f"CAST({quote_text(self.value)} AS {self.type})"

    def to_json(self) -> str:
        return line_json({"column": self.column, "type": self.type, "value": self.value})


def watermark_of(snapshot: Snapshot | None, column: str) -> Watermark | None:
    """The watermark of a table; None when there is none, or it is one of another column.

    Raises StoreUnreadable for one that cannot be read: taking it for none would load all again.
    """
    text = snapshot.configuration.get(WATERMARK) if snapshot is not None else None
    if not text:
        return None
    try:
        found = json.loads(text)
        mark = Watermark(found["column"], found["type"], found["value"])
    except (ValueError, KeyError, TypeError) as error:
        # Not which: the column may be classified.
        message = "the table's watermark cannot be read; build it with `--full-refresh`"
        raise StoreUnreadable(message) from error
    return mark if mark.column.lower() == column.lower() else None


def highest_watermark(
    workspace: Workspace, view: str, column: str, kind: DataType, above: Watermark | None
) -> Watermark | None:
    """The highest value of a column, of those above a watermark; None when there is none."""
    name = quote_name(column)
    where = f" WHERE {name} > {above.sql}" if above is not None else ""
    (row,) = workspace.ask(f"SELECT CAST(max({name}) AS STRING) FROM {view}{where}")
    if row[0] == "NaN":
        raise ModelFailed(f"column `{column}` holds NaN, and nothing that comes later is above it")
    return Watermark(column, kind.text, row[0]) if row[0] is not None else None


def incremental(build: Build, strategy: Incremental) -> Built:
    """Append what is new, or load everything when nothing says what is not."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        column = workspace.column(strategy.timestamp_column)
        snapshot = build.table.snapshot()
        low = None if build.full_refresh else watermark_of(snapshot, column.name)
        high = highest_watermark(workspace, workspace.source, column.name, column.type, low)
        if low is None or snapshot is None:
            committed, written = load_all(workspace, snapshot, high)
            action, where = "replaced", _up_to(high)
        elif high is None:
            recorded = snapshot.configuration.get(ROWS_HASH)
            return Built(build.query or "", (), 0, recorded, "unchanged", low.value)
        else:
            base = open_base(workspace, snapshot)
            committed, written = append(workspace, base, low, high, 0)
            action, where = "appended", _between(low, high)
        return Built(
            _executed_sql(workspace, where),
            (committed,),
            written.rows,
            committed.snapshot.configuration.get(ROWS_HASH),
            action,
            high.value if high is not None else None,
        )


def load_all(
    workspace: Workspace, snapshot: Snapshot | None, high: Watermark | None
) -> tuple[Committed, Written]:
    """Replace the table by all rows up to a time; no time at all means that no row has one."""
    build = workspace.build
    written = workspace.write(
        f"SELECT {column_list(workspace.names)} FROM {workspace.source}{_up_to(high)}",
        workspace.columns,
        build.layout,
        frozenset(),
    )
    mark = high.to_json() if high is not None else None
    outcome = Outcome(written.files, written.rows_hash, mark)
    return commit_replacement(build, snapshot, workspace.columns, outcome), written


def append(
    workspace: Workspace, base: StartingPoint, low: Watermark, high: Watermark, batch: int
) -> tuple[Committed, Written]:
    """Append the rows above one time and up to another."""
    build = workspace.build
    written = workspace.write(
        f"SELECT {column_list(workspace.names)} FROM {workspace.source}{_between(low, high)}",
        base.columns,
        build.layout,
        base.paths,
    )
    outcome = Outcome(
        (*base.files, *written.files),
        add_hashes((base.rows_hash, written.rows_hash)),
        high.to_json(),
        (build.token, batch),
    )
    # A rewritten table is no append. An append is refused too, once the watermark has moved.
    operation: Operation = "MERGE" if base.evolved else "APPEND"
    committed = commit_outcome(build, operation, base, outcome)
    assert committed is not None
    return committed, written


def _up_to(high: Watermark | None) -> str:
    if high is None:
        return ""
    name = quote_name(high.column)
    return f" WHERE {name} <= {high.sql} OR {name} IS NULL"


def _between(low: Watermark, high: Watermark) -> str:
    name = quote_name(high.column)
    return f" WHERE {name} > {low.sql} AND {name} <= {high.sql}"


def _executed_sql(workspace: Workspace, where: str) -> str:
    """The author's query and the filter around it, which decides what of it was copied.

    A replay runs this text over the recorded inputs and the base version, and gets the same rows:
    the same filter twice is the filter. A Python model has no query.
    """
    query = workspace.build.query
    if query is None:
        return ""
    return f"SELECT {column_list(workspace.names)} FROM (\n{query}\n){where}"
