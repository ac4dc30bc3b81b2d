"""The row diff of a branch: its rows beside production's, or beside what the branch was made of.

Two states of a table are compared by the files that only one of them has: equal names are equal
bytes, so files of both are never read. Where only one side has files of its own, their counts are
the answer, and so most comparisons are small and many need no Spark.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, Literal, NamedTuple

from rocky.analysis.changes.change import Impact
from rocky.analysis.changes.columns import compare_columns
from rocky.branches.row_diff_queries import (
    Pair,
    format_counts,
    format_duplicates,
    format_multiset,
    format_sample,
    pair_columns,
)
from rocky.branches.tables import BranchTable, BranchView
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected, StoreUnreadable
from rocky.language.datatypes.text import field_to_json
from rocky.project.configuration.strategies import Merge
from rocky.project.models import ModelFile
from rocky.run.engine.failures import classify_step_failure
from rocky.run.engine.protocol import Engine
from rocky.spark.failures import SPARK_ERRORS
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table


class KeySource(StrEnum):
    """Who says which columns find a row again. As it is shown."""

    ASKED = "--key"
    STRATEGY = "unique_key"
    TEST = "unique test"
    NOBODY = "no key"


@dataclass(frozen=True, slots=True)
class RowKey:
    """The columns that find a row again; none where nobody knows any."""

    columns: tuple[str, ...] = ()
    source: KeySource = KeySource.NOBODY


NO_KEY = RowKey()


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value on both sides, as texts."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ChangedRow:
    """A row that both have: its key, and the columns that changed."""

    key: Mapping[str, str | None]
    columns: Mapping[str, ValueChange]


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column that is not the same on both sides, by the rules of changes."""

    rule: str
    impact: Impact
    column: str | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDifference:
    """Two states of one table. `rows_before` is None where there was no table.

    Without a key rows are told apart by all they hold: a changed row is then one removed and one
    added, and `changed` is None. So it is where `duplicate_keys` share rows. Files that both states
    have were not read.
    """

    target: str
    rows_before: int | None = None
    rows_after: int
    added: int
    removed: int
    changed: int | None = None
    key: tuple[str, ...]
    key_source: KeySource
    duplicate_keys: int
    column_changes: tuple[ColumnChange, ...]
    changed_by_column: Mapping[str, int]
    columns_not_compared: tuple[str, ...]
    sample: tuple[ChangedRow, ...]
    files_read: int
    files_shared: int


OtherSide = Literal["production", "base"]


@dataclass(frozen=True, slots=True)
class DataDiff:
    """All tables of a branch that differ, and how many do not.

    `compared_with` is `production`, which stands for the tables of the `parent` as they are now, or
    `base`, for those that the branch was made of.
    """

    branch: str
    parent: str
    compared_with: OtherSide
    tables: tuple[TableDifference, ...]
    same: int


def choose_key(
    target: str, model: ModelFile | None, asked: Sequence[str], pairs: Sequence[Pair]
) -> RowKey:
    """The key that was asked for, or the one that the model's strategy or a test of it declares.

    Raises NothingSelected when a column that was asked for is not one of both states.
    """
    known = {each.name.lower(): each for each in pairs if each.is_comparable}
    if asked:
        for name in asked:
            if name.lower() not in known:
                near = suggestion(name, [each.name for each in known.values()])
                raise NothingSelected(
                    f"`{target}` has no column `{name}` on both sides to compare rows by"
                    + (f"; {near}" if near else "")
                )
        return RowKey(tuple(known[each.lower()].name for each in asked), KeySource.ASKED)
    for columns, source in _declared(model):
        if columns and all(each.lower() in known for each in columns):
            return RowKey(tuple(known[each.lower()].name for each in columns), source)
    return NO_KEY


def _declared(model: ModelFile | None) -> list[tuple[tuple[str, ...], KeySource]]:
    if model is None:
        return []
    found = []
    # Not that of a snapshot: its table has a row for every version of a key.
    if isinstance(model.strategy, Merge):
        found.append((model.strategy.unique_key, KeySource.STRATEGY))
    for test in model.tests:
        # A test of some rows only says nothing of the others.
        if test.filter is not None:
            continue
        if test.type == "unique" and test.column is not None:
            found.append(((test.column,), KeySource.TEST))
        elif test.type == "composite":
            found.append((test.columns, KeySource.TEST))
    return found


ChooseKey = Callable[[Sequence[Pair]], RowKey]
"""The key, given the columns that both states have."""

_BEFORE_VIEW = "rocky_diff_before"
_AFTER_VIEW = "rocky_diff_after"


@dataclass(frozen=True, slots=True)
class TableState:
    """A table at a version, where its files are."""

    table: Table
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class TableComparison:
    """Two states of a table to be compared; there may have been none before."""

    target: str
    before: TableState | None
    after: TableState
    choose_key: ChooseKey
    sample: int = 0


def compare_states(
    comparison: TableComparison, open_engine: Callable[[], Engine]
) -> TableDifference:
    """What differs. `open_engine` is called only when rows have to be read.

    Raises NothingSelected for a key that is none, StoreUnreadable.
    """
    before, after = comparison.before, comparison.after
    if before is None:
        return _added_table(comparison)
    pairs = pair_columns(before.snapshot.schema, after.snapshot.schema)
    key = comparison.choose_key(pairs)
    gone, new = (
        _own_files(before.snapshot, after.snapshot),
        _own_files(after.snapshot, before.snapshot),
    )
    found = replace(
        _added_table(comparison),
        rows_before=before.snapshot.rows,
        added=new.rows,
        removed=gone.rows,
        changed=0 if key.columns else None,
        key=key.columns,
        key_source=key.source,
        column_changes=tuple(
            ColumnChange(each.rule, each.impact, each.column, each.before, each.after)
            for each in compare_columns(before.snapshot.schema, after.snapshot.schema)
        ),
        columns_not_compared=tuple(each.name for each in pairs if not each.is_comparable),
        files_shared=len(after.snapshot.files) - len(new.files),
    )
    comparable = [each for each in pairs if each.is_comparable]
    if not gone.files or not new.files or not comparable:
        return found
    engine = open_engine()
    read = replace(found, files_read=len(gone.files) + len(new.files))
    views = engine.views
    try:
        views.bind_table(_BEFORE_VIEW, before.table, gone)
        views.bind_table(_AFTER_VIEW, after.table, new)
        return _RowQueries(engine, comparable, comparison.sample).compare(read)
    except SPARK_ERRORS as error:
        why = classify_step_failure(error, engine.explain).message
        raise StoreUnreadable(f"the rows of `{comparison.target}` differ, and {why}") from error
    finally:
        views.unbind([_BEFORE_VIEW, _AFTER_VIEW])


def _added_table(comparison: TableComparison) -> TableDifference:
    """All there is to say of a table that was not there before."""
    rows = comparison.after.snapshot.rows
    return TableDifference(
        target=comparison.target,
        rows_after=rows,
        added=rows,
        removed=0,
        key=(),
        key_source=KeySource.NOBODY,
        duplicate_keys=0,
        column_changes=(),
        changed_by_column={},
        columns_not_compared=(),
        sample=(),
        files_read=0,
        files_shared=0,
    )


def _own_files(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """A state as if it held only the files that the other does not."""
    shared = {file.address for file in other.files}
    return replace(
        snapshot, files=tuple(file for file in snapshot.files if file.address not in shared)
    )


class _RowQueries:
    """Asks an engine about the two views."""

    def __init__(self, engine: Engine, pairs: Sequence[Pair], sample: int) -> None:
        self._engine = engine
        self._pairs = pairs
        self._sample = sample

    def compare(self, found: TableDifference) -> TableDifference:
        wanted = {each.lower() for each in found.key}
        key = [each for each in self._pairs if each.name.lower() in wanted]
        if not key:
            return self._count_alike(found)
        before, after = self._counts(format_duplicates(_BEFORE_VIEW, _AFTER_VIEW, key))
        if before or after:
            # Which of several rows another one was cannot be told.
            return replace(self._count_alike(found), duplicate_keys=max(before, after))
        others = [each for each in self._pairs if each not in key]
        added, removed, changed, *counts = self._counts(
            format_counts(_BEFORE_VIEW, _AFTER_VIEW, key, others)
        )
        per_column = {each.name: count for each, count in zip(others, counts, strict=True) if count}
        touched = [each for each in others if each.name in per_column]
        return replace(
            found,
            added=added,
            removed=removed,
            changed=changed,
            changed_by_column=per_column,
            sample=self._take_sample(key, touched) if changed and self._sample else (),
        )

    def _count_alike(self, found: TableDifference) -> TableDifference:
        added, removed = self._counts(format_multiset(_BEFORE_VIEW, _AFTER_VIEW, self._pairs))
        return replace(found, added=added, removed=removed, changed=None)

    def _take_sample(self, key: Sequence[Pair], touched: Sequence[Pair]) -> tuple[ChangedRow, ...]:
        sql = format_sample(_BEFORE_VIEW, _AFTER_VIEW, key, touched, self._sample)
        rows = []
        for row in self._ask(sql, self._sample):
            names = dict(zip((each.name for each in key), row, strict=False))
            values = {}
            for at, each in enumerate(touched):
                start = len(key) + 3 * at
                differs, before, after = row[start : start + 3]
                if differs:
                    values[each.name] = ValueChange(before, after)
            rows.append(ChangedRow(names, values))
        return tuple(rows)

    def _counts(self, sql: str) -> list[int]:
        (row,) = self._ask(sql, 1)
        return [int(each) for each in row]

    def _ask(self, sql: str, limit: int) -> list[tuple[Any, ...]]:
        return self._engine.rows(self._engine.frame(sql), limit)


class DiffScope(NamedTuple):
    """What to compare. `targets` are full names in lower case, all tables without any."""

    to: OtherSide = "production"
    targets: Collection[str] = ()
    key: Sequence[str] = ()
    sample: int = 5


def diff_tables(
    view: BranchView,
    models: Iterable[ModelFile],
    wanted: DiffScope,
    open_engine: Callable[[], AbstractContextManager[Engine]],
) -> DataDiff:
    """Every table whose rows or columns differ. The engine is opened for the first that needs it.

    Raises NothingSelected, StoreUnreadable, and what opening an engine raises.
    """
    by_target = {each.target.full_name.lower(): each for each in models}
    found: list[TableDifference] = []
    same = 0
    with ExitStack() as stack:
        opened: list[Engine] = []

        def engine() -> Engine:
            if not opened:
                opened.append(stack.enter_context(open_engine()))
            return opened[0]

        for target, table in sorted(view.tables.items()):
            if wanted.targets and target not in wanted.targets:
                continue
            comparison = _comparison(table, by_target, wanted)
            if comparison is None:
                same += 1
            else:
                found.append(compare_states(comparison, engine))
    return DataDiff(view.record.name, view.record.parent, wanted.to, tuple(found), same)


def _comparison(
    table: BranchTable, models: Mapping[str, ModelFile], wanted: DiffScope
) -> TableComparison | None:
    """The two states of a table; None where they hold the same rows and columns."""
    after = table.branch
    if wanted.to == "production":
        other, before = table.parent_table, table.production
    else:
        other, before = table.table, table.made_of
    if after is None or (before is not None and _same_rows(before, after)):
        return None
    model = models.get(table.target.lower())
    return TableComparison(
        table.target,
        None if before is None else TableState(other, before),
        TableState(table.table, after),
        partial(choose_key, table.target, model, wanted.key),
        wanted.sample,
    )


def _same_rows(one: Snapshot, other: Snapshot) -> bool:
    """Whether two states have the same files and columns; properties hold no rows."""
    return _files_and_columns(one) == _files_and_columns(other)


def _files_and_columns(snapshot: Snapshot) -> tuple[list[str], list[object]]:
    return sorted(file.address for file in snapshot.files), [
        field_to_json(each) for each in snapshot.schema
    ]
