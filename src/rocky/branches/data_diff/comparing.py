"""Comparing: two states of a table, by the files that only one of them has.

Equal names are equal bytes, so files of both are never read; where only one side has files of its
own, their counts are the answer and nothing is read at all. So most comparisons are small, and
many need no Spark.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rocky.branches.data_diff.difference import ChangedRow, RowKey, TableDifference
from rocky.branches.data_diff.queries import (
    Pair,
    format_counts,
    format_duplicates,
    format_multiset,
    format_sample,
    pair_columns,
)
from rocky.changes.columns import compare_columns
from rocky.errors import StoreUnreadable
from rocky.run.engine import Engine
from rocky.run.failures import classify_step_failure
from rocky.spark.failures import SPARK_ERRORS
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table

ChooseKey = Callable[[Sequence[Pair]], RowKey]
"""The key, given the columns that both states have."""

_BEFORE = "rocky_diff_before"
_AFTER = "rocky_diff_after"


@dataclass(frozen=True, slots=True)
class State:
    """A table at a version, where its files are."""

    table: Table
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two states of a table to be compared; there may have been none before."""

    target: str
    before: State | None
    after: State
    choose_key: ChooseKey
    sample: int = 0


def compare_states(comparison: Comparison, open_engine: Callable[[], Engine]) -> TableDifference:
    """What differs. `open_engine` is called only when rows have to be read.

    Raises NothingSelected for a key that is none, StoreUnreadable.
    """
    before, after = comparison.before, comparison.after
    if before is None:
        rows = after.snapshot.rows
        return TableDifference(comparison.target, None, rows, rows, 0)
    pairs = pair_columns(before.snapshot.schema, after.snapshot.schema)
    key = comparison.choose_key(pairs)
    gone, new = (
        _own_files(before.snapshot, after.snapshot),
        _own_files(after.snapshot, before.snapshot),
    )
    found = TableDifference(
        comparison.target,
        before.snapshot.rows,
        after.snapshot.rows,
        added=new.rows,
        removed=gone.rows,
        changed=0 if key.columns else None,
        key=key,
        columns=compare_columns(before.snapshot.schema, after.snapshot.schema),
        not_compared=tuple(each.name for each in pairs if not each.is_comparable),
        files_shared=len(after.snapshot.files) - len(new.files),
    )
    comparable = [each for each in pairs if each.is_comparable]
    if not gone.files or not new.files or not comparable:
        return found
    engine = open_engine()
    read = replace(found, files_read=len(gone.files) + len(new.files))
    views = engine.views
    try:
        views.bind_table(_BEFORE, before.table, gone)
        views.bind_table(_AFTER, after.table, new)
        return _Rows(engine, comparable, comparison.sample).compare(read)
    except SPARK_ERRORS as error:
        why = classify_step_failure(error, engine.explain).message
        raise StoreUnreadable(f"the rows of `{comparison.target}` differ, and {why}") from error
    finally:
        views.unbind([_BEFORE, _AFTER])


def _own_files(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """A state as if it held only the files that the other does not."""
    shared = {file.address for file in other.files}
    return replace(
        snapshot, files=tuple(file for file in snapshot.files if file.address not in shared)
    )


class _Rows:
    """Asks an engine about the two views."""

    def __init__(self, engine: Engine, pairs: Sequence[Pair], sample: int) -> None:
        self._engine = engine
        self._pairs = pairs
        self._sample = sample

    def compare(self, found: TableDifference) -> TableDifference:
        wanted = {each.lower() for each in found.key.columns}
        key = [each for each in self._pairs if each.name.lower() in wanted]
        if not key:
            return self._count_alike(found)
        before, after = self._counts(format_duplicates(_BEFORE, _AFTER, key))
        if before or after:
            # Which of several rows another one was cannot be told.
            return replace(self._count_alike(found), duplicate_keys=max(before, after))
        others = [each for each in self._pairs if each not in key]
        added, removed, changed, *counts = self._counts(format_counts(_BEFORE, _AFTER, key, others))
        per_column = {each.name: count for each, count in zip(others, counts, strict=True) if count}
        touched = [each for each in others if each.name in per_column]
        return replace(
            found,
            added=added,
            removed=removed,
            changed=changed,
            per_column=per_column,
            sample=self._take_sample(key, touched) if changed and self._sample else (),
        )

    def _count_alike(self, found: TableDifference) -> TableDifference:
        added, removed = self._counts(format_multiset(_BEFORE, _AFTER, self._pairs))
        return replace(found, added=added, removed=removed, changed=None)

    def _take_sample(self, key: Sequence[Pair], touched: Sequence[Pair]) -> tuple[ChangedRow, ...]:
        sql = format_sample(_BEFORE, _AFTER, key, touched, self._sample)
        rows = []
        for row in self._ask(sql, self._sample):
            names = dict(zip((each.name for each in key), row, strict=False))
            values = {}
            for at, each in enumerate(touched):
                start = len(key) + 3 * at
                differs, before, after = row[start : start + 3]
                if differs:
                    values[each.name] = (before, after)
            rows.append(ChangedRow(names, values))
        return tuple(rows)

    def _counts(self, sql: str) -> list[int]:
        (row,) = self._ask(sql, 1)
        return [int(each) for each in row]

    def _ask(self, sql: str, limit: int) -> list[tuple[Any, ...]]:
        return self._engine.rows(self._engine.frame(sql), limit)
