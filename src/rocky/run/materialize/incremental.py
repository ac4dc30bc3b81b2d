"""incremental: rows above the watermark are appended, and the watermark moves with them.

The high end is taken before rows are copied, so a row that arrives in between waits for the next
run. Two runs that began from one watermark cannot both append: the second is refused, because the
property it sets has changed. A row without a time is loaded by full loads only.
"""

from rocky.project.strategies import Incremental
from rocky.run.build import Build, Built
from rocky.run.engine import Written
from rocky.run.materialize.evolution import open_base
from rocky.run.materialize.expressions import column_list, quote_name
from rocky.run.materialize.starting_point import (
    Outcome,
    StartingPoint,
    add_hashes,
    commit_outcome,
    commit_replacement,
)
from rocky.run.materialize.watermarks import Mark, highest, watermark_of
from rocky.run.materialize.workspace import Workspace, open_workspace
from rocky.store.change import Committed, Operation
from rocky.store.snapshot import ROWS_HASH, Snapshot


def incremental(build: Build, strategy: Incremental) -> Built:
    """Append what is new, or load everything when nothing says what is not."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        column = workspace.column(strategy.timestamp_column)
        snapshot = build.table.snapshot()
        low = None if build.full_refresh else watermark_of(snapshot, column.name)
        high = highest(workspace, workspace.source, column.name, column.type, low)
        if low is None or snapshot is None:
            committed, written = load_all(workspace, snapshot, high)
            action = "replaced"
        elif high is None:
            recorded = snapshot.configuration.get(ROWS_HASH)
            return Built(build.query or "", (), 0, recorded, "unchanged", low.value)
        else:
            base = open_base(workspace, snapshot)
            committed, written = append(workspace, base, low, high, 0)
            action = "appended"
        return Built(
            build.query or "",
            (committed,),
            written.rows,
            committed.snapshot.configuration.get(ROWS_HASH),
            action,
            high.value if high is not None else None,
        )


def load_all(
    workspace: Workspace, snapshot: Snapshot | None, high: Mark | None
) -> tuple[Committed, Written]:
    """Replace the table by all rows up to a time; no time at all means that no row has one."""
    build = workspace.build
    where = ""
    if high is not None:
        name = quote_name(high.column)
        where = f" WHERE {name} <= {high.sql} OR {name} IS NULL"
    written = workspace.write(
        f"SELECT {column_list(workspace.names)} FROM {workspace.source}{where}",
        workspace.columns,
        build.layout,
        frozenset(),
    )
    mark = high.to_json() if high is not None else None
    outcome = Outcome(written.files, written.rows_hash, mark)
    return commit_replacement(build, snapshot, workspace.columns, outcome), written


def append(
    workspace: Workspace, base: StartingPoint, low: Mark, high: Mark, batch: int
) -> tuple[Committed, Written]:
    """Append the rows above one time and up to another."""
    build = workspace.build
    name = quote_name(high.column)
    written = workspace.write(
        f"SELECT {column_list(workspace.names)} FROM {workspace.source}"
        f" WHERE {name} > {low.sql} AND {name} <= {high.sql}",
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
