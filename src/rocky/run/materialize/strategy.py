"""Strategies: a build is handed to the one its model asks for; `full_refresh` itself is here.

Views and ephemeral models have no table: the runner binds their queries as views for their readers
(`rocky.project.strategies.is_inline`), so they never come here.
"""

from typing import assert_never

from rocky.errors import InternalError
from rocky.project.configuration.strategies import (
    Append,
    ContentAddressed,
    DeleteInsert,
    Ephemeral,
    FullRefresh,
    Incremental,
    MaterializedView,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
    View,
)
from rocky.run.engine.sql import column_list
from rocky.run.materialize.append import append_files
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.delete_insert import delete_insert
from rocky.run.materialize.incremental import incremental
from rocky.run.materialize.merge import merge
from rocky.run.materialize.microbatch import microbatch
from rocky.run.materialize.snapshot import snapshot
from rocky.run.materialize.starting_point import Outcome, commit_replacement
from rocky.run.materialize.time_interval import time_interval
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


def materialize(build: Build) -> Built:
    """Bring the table of a model up to date.

    Raises ConcurrentChange when somebody else changed the table meanwhile: then the whole build is
    to be done again, from the table as it is now.
    """
    strategy = build.model.strategy
    match strategy:
        case FullRefresh() | ContentAddressed() | MaterializedView():
            return full_refresh(build)
        case Incremental():
            return incremental(build, strategy)
        case Microbatch():
            return microbatch(build, strategy)
        case Merge():
            return merge(build, strategy)
        case DeleteInsert():
            return delete_insert(build)
        case TimeInterval():
            return time_interval(build, strategy)
        case Snapshot():
            return snapshot(build, strategy)
        case Append():
            return append_files(build, strategy)
        case View() | Ephemeral():
            message = f"model `{build.model.name}` has no table: it is bound as a view"
            raise InternalError(message)
        case _:
            assert_never(strategy)
