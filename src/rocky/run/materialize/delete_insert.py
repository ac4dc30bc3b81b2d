"""delete_insert: the partitions that the result has rows in are replaced, in one commit.

The table is partitioned by these columns, so whole files go and none is rewritten. A partition
whose files come out as they were is left as it is.
"""

from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.evolution import hash_without, open_base
from rocky.run.materialize.starting_point import (
    Outcome,
    add_hashes,
    commit_outcome,
    commit_replacement,
)
from rocky.run.materialize.workspace import open_workspace
from rocky.store.data_file import DataFile


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
        committed = commit_outcome(build, "OVERWRITE", base, outcome)
    if committed is None:
        return Built(build.query or "", (), 0, base.rows_hash, "unchanged")
    return Built(build.query or "", (committed,), written.rows, outcome.rows_hash, "overwritten")


def _partition(file: DataFile) -> frozenset[tuple[str, str | None]]:
    return frozenset((name.lower(), value) for name, value in file.partition_values.items())
