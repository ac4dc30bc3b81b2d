"""Strategies: a build is handed to the one its model asks for.

The two that replace whole files are here: `full_refresh` all of them, `delete_insert` those of the
partitions that the result has rows in. Views and ephemeral models have no table: the runner binds
their queries as views for their readers (`rocky.project.configuration.strategies.is_inline`).
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
from rocky.run.materialize.evolution import hash_without, open_base
from rocky.run.materialize.incremental import incremental
from rocky.run.materialize.merge import merge
from rocky.run.materialize.snapshot import snapshot
from rocky.run.materialize.time_interval import microbatch, time_interval
from rocky.run.materialize.workspace import (
    Outcome,
    add_hashes,
    commit_outcome,
    commit_replacement,
    open_workspace,
)
from rocky.store.data_file import DataFile
from rocky.store.delta.change import FilesRead
from rocky.store.delta.snapshot import ROWS_HASH


def delete_insert(build: Build) -> Built:
    """Replace each partition that occurs in the result."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        sql = f"SELECT {column_list(workspace.names)} FROM {workspace.source}"
        snapshot = build.table.snapshot()
        if snapshot is None or build.full_refresh:
            written = workspace.write(sql, workspace.columns, build.layout, frozenset())
            outcome = Outcome(written.files, written.rows_hash)
            made = commit_replacement(build, snapshot, workspace.columns, outcome)
            return Built(build.query or "", (made,), written.rows, written.rows_hash, "replaced")
        base = open_base(workspace, snapshot)
        # Rows of another partition differ in its columns, which the files hold, so no file that
        # stays can have the bytes of a new one.
        written = workspace.write(sql, base.columns, build.layout, frozenset())
        touched = {_partition(file) for file in written.files}
        gone = [file for file in base.files if _partition(file) in touched]
        stays = tuple(file for file in base.files if _partition(file) not in touched)
        kept = hash_without(workspace, base, gone)
        outcome = Outcome((*stays, *written.files), add_hashes((kept, written.rows_hash)))
        # Files that come meanwhile count by their partition.
        paths = frozenset(file.path for file in gone)
        reads = FilesRead(paths, lambda file: _partition(file) not in touched)
        committed = commit_outcome(
            build, "OVERWRITE", base, outcome, None if base.evolved else reads
        )
    if committed is None:
        return Built(build.query or "", (), 0, base.rows_hash, "unchanged")
    rows_hash = committed.snapshot.configuration.get(ROWS_HASH, outcome.rows_hash)
    return Built(build.query or "", (committed,), written.rows, rows_hash, "overwritten")


def _partition(file: DataFile) -> frozenset[tuple[str, str | None]]:
    return frozenset((name.lower(), value) for name, value in file.partition_values.items())


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
