"""merge: rows are matched by their key, null to null; only files with changed rows are rewritten.

The result is compared with the files whose bounds do not exclude a match; one in which no row
changes stays as it is. The result itself is evaluated once. A small table is written anew in a
single query instead: finding out which of its files change takes longer than writing them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rocky.errors import ModelFailed
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.strategies import Merge
from rocky.run.engine.failures import STEP_ERRORS
from rocky.run.engine.protocol import Written
from rocky.run.engine.sql import FILE_NAME, column_list, same_key, same_values
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.evolution import hash_without, open_base
from rocky.run.materialize.key_bounds import check_unique, inspect_keys
from rocky.run.materialize.workspace import (
    NO_ROWS,
    Outcome,
    StartingPoint,
    Workspace,
    add_hashes,
    commit_outcome,
    commit_replacement,
    open_workspace,
)
from rocky.spark.interface import TARGET_FILE_BYTES, Layout
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import Snapshot

_FILE: Final = "__rocky_file"
_CHANGED: Final = "__rocky_changed"
_HIT: Final = "__rocky_hit"
_SMALL_ROWS: Final = 100_000
_SMALL_BYTES: Final = 8 * 1024 * 1024
_TWICE: Final = "the model gives several rows for one unique key"


def merge(build: Build, strategy: Merge) -> Built:
    """Update the rows whose key is there, insert the others."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        keys = tuple(workspace.column(key).name for key in strategy.unique_key)
        snapshot = build.table.snapshot()
        if snapshot is None or build.full_refresh:
            return replace_by_key(workspace, snapshot, keys)
        base = open_base(workspace, snapshot)
        updated = _updated(workspace, strategy, keys)
        if _is_small(base):
            written, touched = _rewrite_small(workspace, base, keys, updated)
        else:
            workspace.keep(workspace.source)
            written, touched = _rewrite(workspace, base, keys, updated)
        return commit_rewritten(workspace, base, written, touched)


def _updated(
    workspace: Workspace, strategy: Merge, keys: tuple[str, ...]
) -> tuple[StructField, ...]:
    """The columns that a match updates."""
    chosen = strategy.update_columns
    if chosen is None:
        return tuple(each for each in workspace.columns if each.name not in keys)
    return tuple(workspace.column(name) for name in chosen)


def replace_by_key(workspace: Workspace, snapshot: Snapshot | None, keys: tuple[str, ...]) -> Built:
    """The first load: everything, after a look at the keys of the files that were written."""
    build = workspace.build
    written = workspace.write(
        f"SELECT {column_list(workspace.names)} FROM {workspace.source}",
        workspace.columns,
        build.layout,
        frozenset(),
    )
    if written.files:
        seen = as_snapshot(build, written, snapshot)
        loaded = StartingPoint(seen, workspace.columns, workspace.columns, written.files, "")
        check_unique(workspace, workspace.bind_files("loaded", loaded, written.files), keys)
    outcome = Outcome(written.files, written.rows_hash)
    committed = commit_replacement(build, snapshot, workspace.columns, outcome)
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, "replaced")


def as_snapshot(build: Build, written: Written, snapshot: Snapshot | None) -> Snapshot:
    """Files that are not committed yet, to be read as a table."""
    if snapshot is not None:
        return snapshot
    return Snapshot(-1, (), build.layout.partition_columns, written.files, {}, {}, "", 0)


def _rewrite(
    workspace: Workspace,
    base: StartingPoint,
    keys: tuple[str, ...],
    updated: tuple[StructField, ...],
) -> tuple[Written | None, list[DataFile]]:
    """The rows of changed files after the merge, and new rows; and the files these replace."""
    ranges = inspect_keys(workspace, workspace.source, keys)
    if ranges is None:
        return None, []
    reached = [file for file in base.files if all(each.may_meet(file) for each in ranges)]
    matched = _match(workspace, base, reached, keys, updated)
    found = workspace.ask(
        f"SELECT m.{_FILE}, count(*), count_if(m.{_CHANGED}) FROM {workspace.source} s"
        f" LEFT JOIN {matched} m ON {same_key(keys, 's', 'm')} GROUP BY 1",
        len(reached) + 1,
    )
    refuse_foreign(workspace, {file for file, _, _ in found if file is not None}, reached)
    changed = {file for file, _, count in found if count}
    touched = [file for file in reached if file.name in changed]
    parts = []
    if touched:
        parts.append(_merged(workspace, base, touched, keys, updated))
    if any(file is None for file, _, _ in found):
        parts.append(
            f"SELECT {column_list(workspace.names)} FROM {workspace.source} s"
            f" LEFT ANTI JOIN {matched} m ON {same_key(keys, 's', 'm')}"
        )
    if not parts:
        return None, []
    written = workspace.write(
        " UNION ALL ".join(parts),
        base.columns,
        layout_for(workspace.build.layout, touched),
        base.paths - {file.path for file in touched},
    )
    return written, touched


def _is_small(base: StartingPoint) -> bool:
    """Whether a table is written anew as fast as it is looked through."""
    rows = sum(file.rows for file in base.files)
    return rows <= _SMALL_ROWS and sum(file.size for file in base.files) <= _SMALL_BYTES


def _rewrite_small(
    workspace: Workspace,
    base: StartingPoint,
    keys: tuple[str, ...],
    updated: tuple[StructField, ...],
) -> tuple[Written | None, list[DataFile]]:
    """All rows of a small table after the merge, and its files; None when no row changes."""
    taken = {each.name for each in updated}
    columns = ", ".join(
        f"IF({first} IS NOT NULL, {first}.{quote_name(name)}, {second}.{quote_name(name)})"
        f" AS {quote_name(name)}"
        for name in workspace.names
        for first, second in [("s", "t") if name in taken else ("t", "s")]
    )
    sides = [(workspace.source, "TRUE")]
    if base.files:
        sides.append((workspace.bind_files("reached", base, base.files), "FALSE"))
    row = f"struct({column_list(workspace.names)}) AS r"
    group = ", ".join(f"{quote_name(key)} AS k{place}" for place, key in enumerate(keys))
    both = " UNION ALL ".join(
        f"SELECT {row}, {new} AS new, {group} FROM {view}" for view, new in sides
    )
    sql = (
        f"SELECT {columns} FROM (SELECT any_value(r) FILTER (WHERE NOT new) AS t,"
        f" any_value(r) FILTER (WHERE new) AS s, count_if(new) AS times FROM ({both})"
        f" GROUP BY {', '.join(f'k{place}' for place in range(len(keys)))})"
        f" WHERE IF(times > 1, raise_error({quote_text(_TWICE)}), TRUE)"
    )
    layout = layout_for(workspace.build.layout, list(base.files))
    try:
        written = workspace.write(sql, base.columns, layout, frozenset())
    except STEP_ERRORS as error:
        if _TWICE in str(error):
            # Says which key it is.
            check_unique(workspace, workspace.source, keys)
        raise
    if written.rows_hash == base.rows_hash:
        return None, []
    return written, list(base.files)


def _match(
    workspace: Workspace,
    base: StartingPoint,
    reached: list[DataFile],
    keys: tuple[str, ...],
    updated: tuple[StructField, ...],
) -> str:
    """A view of the keys that the table has already: in which file, and whether the row changes.

    An inner join, so that Spark sends the result to the table's rows and not the other way round.
    """
    nothing = f"CAST(NULL AS STRING) AS {_FILE}, FALSE AS {_CHANGED}"
    sql = f"SELECT {column_list(keys)}, {nothing} FROM {workspace.source} WHERE FALSE"
    if reached:
        view = workspace.bind_files("reached", base, reached)
        names = dict.fromkeys((*keys, *(each.name for each in updated)))
        sql = (
            f"SELECT {column_list(keys, 't')}, t.{_FILE},"
            f" NOT ({same_values(updated, 't', 's')}) AS {_CHANGED}"
            f" FROM (SELECT {column_list(names)}, {FILE_NAME} AS {_FILE} FROM {view}) t"
            f" JOIN {workspace.source} s ON {same_key(keys, 't', 's')}"
        )
    matched = workspace.bind_sql("matched", sql)
    workspace.keep(matched)
    return matched


def refuse_foreign(workspace: Workspace, paths: set[str], files: Sequence[DataFile]) -> None:
    """Raise unless every file that Spark names is known by that name.

    Another tool may have put files into folders; taking their rows for absent would double them.
    """
    unknown = paths - {file.name for file in files}
    if unknown:
        raise ModelFailed(
            f"the table of model `{workspace.build.model.name}` holds the file `{min(unknown)}`,"
            " which Rocky did not write; run with `--full-refresh` to rebuild the table"
        )


def _merged(
    workspace: Workspace,
    base: StartingPoint,
    touched: list[DataFile],
    keys: tuple[str, ...],
    updated: tuple[StructField, ...],
) -> str:
    """The rows of files, with the columns of their match."""
    view = workspace.bind_files("touched", base, touched)
    taken = {each.name for each in updated}
    selected = ", ".join(
        f"IF(s.{_HIT}, s.{quote_name(name)}, t.{quote_name(name)}) AS {quote_name(name)}"
        if name in taken
        else f"t.{quote_name(name)}"
        for name in workspace.names
    )
    return (
        f"SELECT {selected} FROM {view} t LEFT JOIN"
        f" (SELECT *, TRUE AS {_HIT} FROM {workspace.source}) s ON {same_key(keys, 't', 's')}"
    )


def layout_for(layout: Layout, touched: list[DataFile]) -> Layout:
    """The layout of a rewrite: as many pieces as the files it replaces would fill."""
    size = sum(file.size for file in touched)
    return replace(layout, pieces=max(1, -(-size // TARGET_FILE_BYTES)))


def commit_rewritten(
    workspace: Workspace, base: StartingPoint, written: Written | None, touched: list[DataFile]
) -> Built:
    """Commit what was written in the place of the touched files."""
    build = workspace.build
    if written is None:
        outcome = Outcome(base.files, base.rows_hash)
    else:
        gone = {file.path for file in touched}
        stays = tuple(file for file in base.files if file.path not in gone)
        kept = hash_without(workspace, base, touched) if stays else NO_ROWS
        outcome = Outcome((*stays, *written.files), add_hashes((kept, written.rows_hash)))
    committed = commit_outcome(build, "MERGE", base, outcome)
    if committed is None:
        return Built(build.query or "", (), 0, base.rows_hash, "unchanged")
    rows = written.rows if written is not None else 0
    return Built(build.query or "", (committed,), rows, outcome.rows_hash, "merged")
