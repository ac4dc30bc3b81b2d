"""append: the rows of files that were not loaded before are added, all in one commit.

Which files are new is decided before a build. The commit names their bytes, so that a run which
dies before it is recorded leaves word of what it has loaded; an attempt that is repeated finds its
own transaction.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from rocky.errors import ModelFailed
from rocky.project.configuration.strategies import Append
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.evolution import open_base
from rocky.run.materialize.workspace import (
    Outcome,
    Workspace,
    add_hashes,
    commit_outcome,
    commit_replacement,
    open_workspace,
)
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot

LOADED_FILES: Final = "loadedFiles"
"""What commitInfo calls the hashes of the files that a commit has brought."""
LOADED_WHOLE: Final = "loadedWhole"
"""What it says besides when they took the place of all rows there were."""


class LoadedFiles(NamedTuple):
    """The hashes of the files of a load, and whether they took the place of all rows."""

    files: frozenset[str]
    replaced: bool


def append_files(build: Build, strategy: Append) -> Built:
    """Add the rows of the query; on a full refresh they take the place of those there are."""
    snapshot = build.table.snapshot()
    if snapshot is not None and build.token in snapshot.transactions:
        recorded = snapshot.configuration.get(ROWS_HASH)
        return Built(build.query or "", (), 0, recorded, "appended by an earlier attempt")
    if snapshot is not None and not strategy.files:
        recorded = snapshot.configuration.get(ROWS_HASH)
        return Built(build.query or "", (), 0, recorded, "appended by an earlier run")
    if snapshot is not None and not build.full_refresh:
        _refuse_loaded(build, strategy, snapshot)
    info = {**build.info, LOADED_FILES: json.dumps(sorted(strategy.files))}
    if build.full_refresh:
        info[LOADED_WHOLE] = "true"
    told = replace(build, info=info)
    with open_workspace(told) as workspace:
        workspace.bind_source(build.query)
        if snapshot is None or build.full_refresh:
            return _replace(workspace, snapshot)
        return _append(workspace, snapshot)


def loaded_by(actions: Iterable[Mapping[str, Any]]) -> LoadedFiles:
    """What a commit says it has brought. Raises ValueError when that is damaged."""
    infos = (action["commitInfo"] for action in actions if action.get("commitInfo"))
    info: Mapping[str, Any] = next(infos, {})
    files = frozenset(json.loads(info.get(LOADED_FILES, "[]")))
    return LoadedFiles(files, info.get(LOADED_WHOLE) == "true")


def _refuse_loaded(build: Build, strategy: Append, snapshot: Snapshot) -> None:
    """Raises ModelFailed when another run has loaded some of the files since they were found."""
    for version in range(strategy.since + 1, snapshot.version + 1):
        brought = loaded_by(build.table.log.read_commit(version))
        if not brought.files.isdisjoint(strategy.files):
            raise ModelFailed(
                f"another run has loaded files into `{build.table.name}` meanwhile that this one"
                " was to load; run again for those that are left"
            )


def _replace(workspace: Workspace, snapshot: Snapshot | None) -> Built:
    build = workspace.build
    written = workspace.write(_rows(workspace), workspace.columns, build.layout, frozenset())
    outcome = Outcome(written.files, written.rows_hash, transaction=(build.token, 0))
    committed = commit_replacement(build, snapshot, workspace.columns, outcome)
    action = "replaced" if snapshot is not None else "created"
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, action)


def _append(workspace: Workspace, snapshot: Snapshot) -> Built:
    build = workspace.build
    base = open_base(workspace, snapshot)
    written = workspace.write(_rows(workspace), base.columns, build.layout, base.paths)
    outcome = Outcome(
        (*base.files, *written.files),
        add_hashes((base.rows_hash, written.rows_hash)),
        transaction=(build.token, 0),
    )
    # An append would be put on top of what another writer commits meanwhile, which may be the same
    # files; this is refused then, and looked at again.
    committed = commit_outcome(build, "MERGE", base, outcome)
    if committed is None:
        return Built(build.query or "", (), 0, base.rows_hash, "unchanged")
    rows_hash = committed.snapshot.configuration.get(ROWS_HASH)
    return Built(build.query or "", (committed,), written.rows, rows_hash, "appended")


def _rows(workspace: Workspace) -> str:
    return f"SELECT {column_list(workspace.names)} FROM {workspace.source}"
