"""snapshot: every version of a row is kept, with the times it was valid from and to.

A row has changed when its `updated_at` is later than the one on record, or, without such a column,
when any column differs. The version on record is closed where it lies and the new one is added, in
one commit. Rows that are gone stay current unless their deletion is to be noted.

Times of rows come from anywhere and may be missing, repeated or earlier than those before, and a
clock can be set back. Whatever they are, a version never ends before it begins, and the next one
of its key begins no earlier than where it ends: a time that would have it otherwise is moved up.
"""

from collections.abc import Sequence
from typing import Final

from rocky.errors import ModelFailed
from rocky.language.datatypes.types import DATETIME_KINDS, StructField
from rocky.language.names import quote_name
from rocky.project.configuration.strategies import HISTORY_COLUMNS, Snapshot
from rocky.run.engine.protocol import Written
from rocky.run.engine.sql import FILE_NAME, column_list, moment, same_key, same_values
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.evolution import open_base
from rocky.run.materialize.key_bounds import check_unique, example_row
from rocky.run.materialize.merge import commit_rewritten, layout_for, refuse_foreign
from rocky.run.materialize.workspace import (
    Outcome,
    StartingPoint,
    Workspace,
    commit_replacement,
    open_workspace,
)
from rocky.store.data_file import DataFile
from rocky.store.delta import snapshot as store

_HIT: Final = "__rocky_hit"
_FILE: Final = "__rocky_file"
_LAST: Final = "__rocky_last"
_COUNT: Final = "__rocky_count"


class _History:
    """The SQL of one snapshot's versions: `s` is a row of the query, `t` the version on record."""

    def __init__(self, workspace: Workspace, strategy: Snapshot) -> None:
        self.keys = tuple(workspace.column(key).name for key in strategy.unique_key)
        self.deletes = strategy.invalidate_hard_deletes
        self._now = moment(workspace.build.now)
        self._updated = workspace.column(strategy.updated_at) if strategy.updated_at else None
        self._others = [each for each in workspace.columns if each.name not in self.keys]
        self._names = workspace.names
        self._kinds = {each.name: each.type.kind for each in workspace.columns}

    @property
    def changed(self) -> str:
        """Whether `s` is a later version than `t`."""
        differs = f"NOT ({same_values(self._others, 't', 's')})"
        if self._updated is None:
            return differs
        name = quote_name(self._updated.name)
        # A row that had no time and now has one, or lost it, is another version too; of two without
        # a time nothing but their values tells.
        return (
            f"(s.{name} > t.{name} IS TRUE OR (s.{name} IS NULL) <> (t.{name} IS NULL)"
            f" OR (s.{name} IS NULL AND t.{name} IS NULL AND {differs}))"
        )

    @property
    def starts(self) -> str:
        """When the version `s` became valid: its own time, or that of the run."""
        if self._updated is None or self._updated.type.kind not in DATETIME_KINDS:
            return self._now
        return f"coalesce(CAST(s.{quote_name(self._updated.name)} AS TIMESTAMP), {self._now})"

    def version(self, after: str | None = None, follows: str | None = None) -> str:
        """The select list of a new current version, over `s`.

        `after` is the moment before which it cannot start, if that is not null; `follows` a text
        that no other version of the key has with the same `after`.
        """
        begins = self.starts if after is None else f"greatest({self.starts}, {after})"
        parts = [f"CAST({begins} AS STRING)"]
        for key in self.keys:
            text = f"s.{quote_name(key)}"
            parts.append(
                f"hex({text})" if self._kinds[key] == "binary" else f"CAST({text} AS STRING)"
            )
        # With its length before each part, no two keys run together to one text.
        joined = ", ".join(f"coalesce(concat(length({each}), ':', {each}), '-')" for each in parts)
        if after is not None:
            # It may start at the very moment at which an earlier one did.
            joined += f", IF({self.starts} <= {after}, {follows}, '')"
        start, end, current, identity = (quote_name(name) for name in HISTORY_COLUMNS)
        return (
            f"{column_list(self._names, 's')}, {begins} AS {start},"
            f" CAST(NULL AS TIMESTAMP) AS {end}, TRUE AS {current},"
            f" md5(concat({joined})) AS {identity}"
        )

    def closed(self) -> str:
        """The select list of rows on record, of which those that end are closed."""
        start, end, current, identity = (quote_name(name) for name in HISTORY_COLUMNS)
        ends = f"t.{current} AND {self.ends}"
        at = f"greatest(IF(s.{_HIT}, {self.starts}, {self._now}), t.{start})"
        return (
            f"{column_list(self._names, 't')}, t.{start},"
            f" IF({ends}, {at}, t.{end}) AS {end},"
            f" IF({ends}, FALSE, t.{current}) AS {current}, t.{identity}"
        )

    @property
    def ends(self) -> str:
        """Whether the current version `t` ends, given its match `s` or none."""
        if not self.deletes:
            return f"(s.{_HIT} IS NOT NULL AND {self.changed})"
        return f"(s.{_HIT} IS NULL OR {self.changed})"


def snapshot(build: Build, strategy: Snapshot) -> Built:
    """Bring the history up to date."""
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        schema = _schema(workspace)
        history = _History(workspace, strategy)
        workspace.keep(workspace.source)
        check_unique(workspace, workspace.source, history.keys)
        _check_times(workspace, strategy, history.keys)
        before = build.table.snapshot()
        if before is None or build.full_refresh:
            return _first_load(workspace, before, schema, history)
        base = open_base(workspace, before, schema)
        written, touched = _next_versions(workspace, base, history)
        return commit_rewritten(workspace, base, written, touched)


def _check_times(workspace: Workspace, strategy: Snapshot, keys: Sequence[str]) -> None:
    """Raises ModelFailed, with an example, when a row that must say its time has none."""
    if strategy.updated_at is None or strategy.null_updated_at == "run_time":
        return
    name = workspace.column(strategy.updated_at).name
    example = example_row(workspace, workspace.source, keys, f"{quote_name(name)} IS NULL")
    if example is not None:
        said = f"model `{workspace.build.model.name}` gives a row without a time: `{name}` is null"
        advice = (
            '; give it one, or have such rows dated by the run with `null_updated_at = "run_time"`'
        )
        refused = ModelFailed(f"{said} where {example}{advice}")
        refused.setting, refused.columns = ("strategy", "updated_at"), tuple(keys)
        refused.without_values = f"{said}{advice}"
        raise refused


def _schema(workspace: Workspace) -> tuple[StructField, ...]:
    """The columns of the table: those of the query, then the history's."""
    columns = workspace.build.columns[len(workspace.columns) :]
    if tuple(each.name for each in columns) != HISTORY_COLUMNS:
        raise ModelFailed(
            f"model `{workspace.build.model.name}` has no columns for its history:"
            " the strategy `snapshot` needs a model whose columns are all known"
        )
    return (*workspace.columns, *columns)


def _first_load(
    workspace: Workspace,
    before: store.Snapshot | None,
    schema: tuple[StructField, ...],
    history: _History,
) -> Built:
    build = workspace.build
    written = workspace.write(
        f"SELECT {history.version()} FROM {workspace.source} s",
        schema,
        build.layout,
        frozenset(),
    )
    outcome = Outcome(written.files, written.rows_hash)
    committed = commit_replacement(build, before, schema, outcome)
    return Built(build.query or "", (committed,), written.rows, written.rows_hash, "replaced")


def _next_versions(
    workspace: Workspace, base: StartingPoint, history: _History
) -> tuple[Written | None, list[DataFile]]:
    """Closed and new versions, and the files that hold what was closed."""
    hits = f"(SELECT *, TRUE AS {_HIT} FROM {workspace.source})"
    key = same_key(history.keys, "t", "s")
    current = quote_name(HISTORY_COLUMNS[2])
    touched: list[DataFile] = []
    table = None
    if base.files:
        table = workspace.bind_files("table", base, base.files)
        ending = workspace.ask(
            f"SELECT DISTINCT t.{_FILE} FROM (SELECT *, {FILE_NAME} AS {_FILE} FROM {table}"
            f" WHERE {current}) t LEFT JOIN {hits} s ON {key} WHERE {history.ends}",
            len(base.files),
        )
        paths = {path for (path,) in ending}
        refuse_foreign(workspace, paths, base.files)
        touched = [file for file in base.files if file.name in paths]
    added = workspace.bind_sql("added", _fresh(workspace, table, history))
    workspace.keep(added)
    (row,) = workspace.ask(f"SELECT count(*) FROM {added}")
    if not touched and not row[0]:
        return None, []
    names = column_list(base.names)
    parts = [f"SELECT {names} FROM {added}"] if row[0] else []
    if touched:
        view = workspace.bind_files("touched", base, touched)
        parts.append(f"SELECT {history.closed()} FROM {view} t LEFT JOIN {hits} s ON {key}")
    gone = {file.path for file in touched}
    written = workspace.write(
        " UNION ALL ".join(parts),
        base.columns,
        layout_for(workspace.build.layout, touched),
        base.paths - gone,
    )
    return written, touched


def _fresh(workspace: Workspace, table: str | None, history: _History) -> str:
    """The new versions: rows that have changed, and those of keys without a current version."""
    if table is None:
        return f"SELECT {history.version()} FROM {workspace.source} s"
    start, end, current, identity = (quote_name(name) for name in HISTORY_COLUMNS)
    key = same_key(history.keys, "t", "s")
    after, follows, ended = f"t.{start}", f"concat('+', t.{identity})", ""
    if history.deletes:
        # A row that was found gone may be back, with a time from before.
        after = f"coalesce({after}, e.{_LAST})"
        gone = f"concat('#', CAST(e.{_COUNT} AS STRING))"
        follows = f"IF(t.{identity} IS NULL, {gone}, {follows})"
        names = column_list(history.keys)
        ended = (
            f" LEFT JOIN (SELECT {names}, max({end}) AS {_LAST}, count(*) AS {_COUNT} FROM {table}"
            f" WHERE NOT {current} GROUP BY {names}) e ON {same_key(history.keys, 'e', 's')}"
        )
    return (
        f"SELECT {history.version(after, follows)} FROM {workspace.source} s"
        f" LEFT JOIN (SELECT *, TRUE AS {_HIT} FROM {table} WHERE {current}) t ON {key}{ended}"
        f" WHERE t.{_HIT} IS NULL OR {history.changed}"
    )
