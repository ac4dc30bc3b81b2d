"""merge: rows are matched by their key, null to null; only files with changed rows are rewritten.

The result is evaluated once and kept. One query compares it with the files whose bounds do not
exclude a match and says which of them change; one writes them, and the rows that are new. A file
in which no row changes stays as it is. A small table is written anew in a single query instead:
finding out which of its files change takes longer than writing them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import xor
from typing import Final

from rocky.errors import ModelFailed
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.strategies import Merge
from rocky.run.engine.failures import STEP_ERRORS
from rocky.run.engine.protocol import Kept, Written
from rocky.run.engine.sql import FILE_NAME, column_list, same_key, same_values
from rocky.run.materialize.build import ONE_TASK_BYTES, Build, Built
from rocky.run.materialize.evolution import hash_without, open_base
from rocky.run.materialize.key_bounds import (
    KeyRange,
    check_unique,
    find_ranges,
    keys_without_null,
)
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
from rocky.store.delta.change import FilesRead
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot
from rocky.store.parquet.row_matches import Matches, find_matches

_FILE: Final = "__rocky_file"
_HIT: Final = "__rocky_hit"
_SMALL_ROWS: Final = 100_000
_SMALL_BYTES: Final = 8 * 1024 * 1024
_SENT_BYTES: Final = 8 * 1024 * 1024
"""Kept rows up to here are sent to every task, as Spark would send a table of this size."""
_FEW_ROWS: Final = 500_000
_NEAR_ROWS: Final = 4_000_000
_NEAR_BYTES: Final = 32 * 1024 * 1024
"""A result of so few rows is looked for in so few here, without asking Spark."""
_TWICE: Final = "the model gives several rows for one unique key"
_HELD_TWICE: Final = "the table holds several rows for one unique key"


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
        small = _rewrite_small(workspace, base, keys, updated) if _is_small(base) else None
        if small is not None:
            return commit_rewritten(workspace, base, *small)
        kept = workspace.keep_source()
        ranges = find_ranges(build.table, kept, keys)
        reached = [file for file in base.files if _may_meet(ranges, file)]
        written, touched = _rewrite(workspace, base, keys, updated, (kept, reached))
        # Where the columns have changed, rows that come meanwhile do not have them.
        reads = None if base.evolved else _reads(ranges, reached)
        return commit_rewritten(workspace, base, written, touched, reads)


def _may_meet(ranges: Sequence[KeyRange], file: DataFile) -> bool:
    return all(each.may_meet(file) for each in ranges)


def _reads(ranges: Sequence[KeyRange], reached: Sequence[DataFile]) -> FilesRead:
    paths = frozenset(file.path for file in reached)
    return FilesRead(paths, lambda file: not _may_meet(ranges, file))


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
    looked_at: tuple[Kept, list[DataFile]],
) -> tuple[Written | None, list[DataFile]]:
    """The rows of changed files after the merge, and new rows; and the files these replace."""
    kept, reached = looked_at
    if not kept.rows:
        return None, []
    matches = _match_here(workspace, base, kept, reached, keys, updated)
    matches = matches or _match(workspace, base, kept, reached, keys, updated)
    touched = [file for file in reached if file.name in matches.changed]
    parts = []
    if touched:
        parts.append(_merged(workspace, base, kept, touched, keys, updated))
    if matches.new_rows:
        met = [file for file in reached if file.name in matches.met]
        parts.append(_inserted(workspace, base, kept, met, keys))
    if not parts:
        return None, []
    written = workspace.write(
        " UNION ALL ".join(parts),
        base.columns,
        layout_for(workspace.build.layout, touched, kept, matches.new_rows),
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
) -> tuple[Written | None, list[DataFile]] | None:
    """All rows of a small table after the merge, and its files; nothing when no row changes.

    None when the table holds a key twice, as one that was not merged before may: grouped by their
    keys, all such rows but one would be lost.
    """
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
        f" any_value(r) FILTER (WHERE new) AS s, count_if(new) AS times,"
        f" count_if(NOT new) AS held FROM ({both})"
        f" GROUP BY {', '.join(f'k{place}' for place in range(len(keys)))})"
        f" WHERE CASE WHEN times > 1 THEN raise_error({quote_text(_TWICE)})"
        f" WHEN held > 1 THEN raise_error({quote_text(_HELD_TWICE)}) ELSE TRUE END"
    )
    layout = layout_for(workspace.build.layout, list(base.files))
    # The query ends with a shuffle by key: little more than the rows of the table is in one task.
    alone = layout.canonical and layout.pieces == 1
    layout = replace(layout, in_one_task=alone, in_one_file=alone)
    try:
        written = workspace.write(sql, base.columns, layout, frozenset())
    except STEP_ERRORS as error:
        if _HELD_TWICE in str(error):
            return None
        if _TWICE in str(error):
            # Says which key it is.
            check_unique(workspace, workspace.source, keys)
        raise
    if written.rows_hash == base.rows_hash:
        return None, []
    return written, list(base.files)


def _match_here(
    workspace: Workspace,
    base: StartingPoint,
    kept: Kept,
    reached: list[DataFile],
    keys: tuple[str, ...],
    updated: tuple[StructField, ...],
) -> Matches | None:
    """Which files hold what, where that is found sooner than asked; None elsewhere."""
    rows = sum(file.rows for file in reached)
    size = sum(file.size for file in reached)
    if max(kept.rows / _FEW_ROWS, rows / _NEAR_ROWS, (kept.bytes + size) / _NEAR_BYTES) > 1:
        return None
    types = {each.name: each for each in base.schema}
    compared = [types[each.name] for each in updated]
    found = find_matches(
        workspace.build.table, kept.files, reached, [types[key] for key in keys], compared
    )
    if found is not None and found.repeated:
        check_unique(workspace, workspace.source, keys)
    return found


def _match(
    workspace: Workspace,
    base: StartingPoint,
    kept: Kept,
    reached: list[DataFile],
    keys: tuple[str, ...],
    updated: tuple[StructField, ...],
) -> Matches:
    """Which files hold what, in one query that counts the result's own keys beside them.

    Raises ModelFailed when two rows of the result have one key.
    """
    # What is null is told apart by a flag: hashing passes over nulls.
    flags = ", ".join(f"s.{quote_name(key)} IS NULL" for key in keys)
    digest = f"xxhash64({flags}, {column_list(keys, 's')})"
    source = workspace.source
    sql = (
        f"SELECT CAST(NULL AS STRING) AS {_FILE}, count(*) AS n, 0 AS c, {digest} AS h"
        f" FROM {source} s GROUP BY {column_list(keys, 's')}"
    )
    if reached:
        view = workspace.bind_files("reached", base, reached)
        names = dict.fromkeys((*keys, *(each.name for each in updated)))
        # An inner join, so that Spark sends the result to the table's rows and not the other way.
        sql += (
            f" UNION ALL SELECT t.{_FILE}, 1 AS n,"
            f" IF({same_values(updated, 't', 's')}, 0, 1) AS c, {digest} AS h"
            f" FROM (SELECT {column_list(names)}, {FILE_NAME} AS {_FILE} FROM {view}) t"
            f" JOIN {source} s ON {_same(kept, keys, 't', 's')}"
        )
    found = workspace.ask(
        f"SELECT {_FILE}, sum(n), max(n), sum(c), bit_xor(h) FROM ({sql}) GROUP BY {_FILE}",
        len(reached) + 1,
    )
    ((_, rows, most, _, of_all),) = [each for each in found if each[0] is None]
    if most > 1:
        check_unique(workspace, source, keys)
    files = [each for each in found if each[0] is not None]
    refuse_foreign(workspace, {each[0] for each in files}, reached)
    # As many as there are, and the same ones: a key that a table holds twice stands for no other.
    all_met = rows == sum(each[1] for each in files) and of_all == reduce(
        xor, (each[4] for each in files), 0
    )
    return Matches(
        frozenset(each[0] for each in files),
        frozenset(each[0] for each in files if each[3]),
        0 if all_met else kept.rows,
    )


def _inserted(
    workspace: Workspace,
    base: StartingPoint,
    kept: Kept,
    met: list[DataFile],
    keys: tuple[str, ...],
) -> str:
    """The rows of the result whose key is in none of the files that were met."""
    names, source = column_list(workspace.names, "s"), workspace.source
    if not met:
        return f"SELECT {names} FROM {source} s"
    view = workspace.bind_files("met", base, met)
    # Spark takes it for as large as the files are.
    hint = "/*+ BROADCAST(m) */ " if kept.bytes <= _SENT_BYTES else ""
    return (
        f"SELECT {hint}{names} FROM {source} s LEFT ANTI JOIN"
        f" (SELECT {column_list(keys, 't')} FROM {view} t JOIN {source} k"
        f" ON {_same(kept, keys, 't', 'k')}) m ON {_same(kept, keys, 's', 'm')}"
    )


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
    kept: Kept,
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
        f" (SELECT *, TRUE AS {_HIT} FROM {workspace.source}) s"
        f" ON {_same(kept, keys, 't', 's')}"
    )


def _same(kept: Kept, keys: tuple[str, ...], left: str, right: str) -> str:
    """Whether two rows, one of which is kept, have one key."""
    return same_key(keys, left, right, keys_without_null(kept, keys))


def layout_for(
    layout: Layout, touched: list[DataFile], beside: Kept | None = None, new_rows: int = 0
) -> Layout:
    """The layout of a rewrite: as many pieces as the files it replaces would fill.

    `beside` are the rows that are merged into them, if these are there already, of which so many
    may be new.
    """
    size = sum(file.size for file in touched)
    layout = replace(layout, pieces=max(1, -(-size // TARGET_FILE_BYTES)))
    if beside is None or not layout.canonical or size + beside.bytes > ONE_TASK_BYTES:
        return layout
    rows = sum(file.rows for file in touched) + new_rows
    return replace(layout, in_one_task=True, in_one_file=rows <= layout.max_rows_per_file)


def commit_rewritten(
    workspace: Workspace,
    base: StartingPoint,
    written: Written | None,
    touched: list[DataFile],
    reads: FilesRead | None = None,
) -> Built:
    """Commit what was written in the place of the touched files, computed from those it `reads`."""
    build = workspace.build
    if written is None:
        outcome = Outcome(base.files, base.rows_hash)
    else:
        gone = {file.path for file in touched}
        stays = tuple(file for file in base.files if file.path not in gone)
        kept = hash_without(workspace, base, touched) if stays else NO_ROWS
        outcome = Outcome((*stays, *written.files), add_hashes((kept, written.rows_hash)))
    committed = commit_outcome(build, "MERGE", base, outcome, reads)
    if committed is None:
        return Built(build.query or "", (), 0, base.rows_hash, "unchanged")
    rows = written.rows if written is not None else 0
    rows_hash = committed.snapshot.configuration.get(ROWS_HASH, outcome.rows_hash)
    return Built(build.query or "", (committed,), rows, rows_hash, "merged")
