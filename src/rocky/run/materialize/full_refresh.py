"""full_refresh, content_addressed and materialized_view: the whole table, anew, in one commit."""

from rocky.run.build import Build, Built
from rocky.run.materialize.expressions import column_list
from rocky.run.materialize.starting_point import Outcome, commit_replacement
from rocky.run.materialize.workspace import open_workspace


def full_refresh(build: Build) -> Built:
    """Replace the table by the result of the query."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        snapshot = build.table.snapshot()
        written = workspace.write(
            f"SELECT {column_list(workspace.names)} FROM {workspace.source}",
            workspace.columns,
            build.layout,
            frozenset(),
        )
        outcome = Outcome(written.files, written.rows_hash)
        committed = commit_replacement(build, snapshot, workspace.columns, outcome)
    action = "replaced" if committed.added or committed.removed else "same content"
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, action)
