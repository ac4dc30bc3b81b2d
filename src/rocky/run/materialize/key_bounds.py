"""Keys and their bounds: which files may hold a key, and the refusal of a key that is not unique.

Bounds are read from Delta's statistics; one that is absent says nothing. Texts are compared by code
point, which is the order of their UTF-8 bytes; times are texts of one width. Of few rows the keys
themselves are looked at, so that a file that lies between two of them is not reached.
"""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from rocky.errors import ModelFailed
from rocky.language.datatypes.types import INTEGRAL_KINDS, DataType
from rocky.language.names import quote_name
from rocky.run.engine.protocol import Kept
from rocky.run.engine.sql import column_list
from rocky.run.materialize.workspace import Workspace
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.rows import load_batches
from rocky.store.warehouse import Table

_TEXT_KINDS: Final = frozenset({"string", "date"})


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lowest and highest value of a column in a file, and its nulls; None: not known."""

    low: Any
    high: Any
    nulls: int | None


def bounds_of(file: DataFile, column: str) -> Bounds:
    """What is known of a column in a file."""
    stats = json.loads(file.stats) if file.stats else {}
    return Bounds(
        stats.get("minValues", {}).get(column),
        stats.get("maxValues", {}).get(column),
        stats.get("nullCount", {}).get(column),
    )


def may_hold_null(column: str, snapshot: Snapshot) -> bool:
    """Whether some row of the table may have a null in the column."""
    return any(bounds_of(file, column).nulls != 0 for file in snapshot.files)


def is_bounded(kind: DataType) -> bool:
    """Whether values of a type can be compared here with the bounds of a file."""
    return kind.kind in INTEGRAL_KINDS or kind.kind in _TEXT_KINDS


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Where the values of a key column lie: `low` is None when all are null.

    `values` are all that are not null, sorted, where they are known.
    """

    column: str
    low: Any
    high: Any
    has_null: bool
    values: tuple[Any, ...] | None = None

    def may_meet(self, file: DataFile) -> bool:
        """Whether the file may hold a row with one of the values."""
        bounds = bounds_of(file, self.column)
        if self.has_null and bounds.nulls != 0:
            return True
        if self.low is None:
            return False
        if bounds.low is None or bounds.high is None:
            # A file of nulls alone has no bounds.
            return bounds.nulls != file.rows
        if self.values is not None:
            at = bisect_left(self.values, bounds.low)
            return at < len(self.values) and bool(self.values[at] <= bounds.high)
        return bool(bounds.low <= self.high and self.low <= bounds.high)


_FEW_ROWS: Final = 50_000
"""Of so many rows the keys are read here: that takes a tenth of a second at most."""


def find_ranges(table: Table, kept: Kept, keys: Sequence[str]) -> list[KeyRange]:
    """Where the keys of kept rows lie, column by column; a column that cannot be told is left out.

    Raises `StoreUnreadable`.
    """
    types = {each.name: each for each in kept.columns}
    columns = [types[key] for key in keys if is_bounded(types[key].type)]
    ranges = [each for each in (_range_of(kept, one.name) for one in columns) if each is not None]
    if not ranges or kept.rows > _FEW_ROWS:
        return ranges
    told = [types[each.column] for each in ranges]
    values: list[set[Any]] = [set() for _ in told]
    for batch in load_batches(table, kept.snapshot, told):
        for found, column in zip(values, batch, strict=True):
            found.update(column)
    return [
        # Text that is no UTF-8 comes as bytes, which do not sort among texts.
        each
        if any(isinstance(value, bytes) for value in found)
        else replace(each, values=tuple(sorted(map(_as_bound, found - {None}))))
        for each, found in zip(ranges, values, strict=True)
    ]


def keys_without_null(kept: Kept, keys: Sequence[str]) -> frozenset[str]:
    """The key columns that no kept row has a null in."""
    return frozenset(
        key for key in keys if all(bounds_of(file, key).nulls == 0 for file in kept.files)
    )


def _range_of(kept: Kept, column: str) -> KeyRange | None:
    bounds = [(bounds_of(file, column), file.rows) for file in kept.files]
    if any(each.nulls is None or (each.low is None and each.nulls < n) for each, n in bounds):
        return None
    lows = [each.low for each, _ in bounds if each.low is not None]
    highs = [each.high for each, _ in bounds if each.high is not None]
    if len(lows) != len(highs):
        return None
    has_null = any(each.nulls for each, _ in bounds)
    return KeyRange(column, min(lows, default=None), max(highs, default=None), has_null)


def _as_bound(value: Any) -> Any:
    # A file's bounds of dates are texts.
    return value.isoformat() if isinstance(value, date) else value


def check_unique(workspace: Workspace, view: str, keys: Sequence[str]) -> None:
    """Raises ModelFailed, with an example, when two rows of a view have one key."""
    found = workspace.ask(
        f"SELECT count(*), {_shown(keys)} FROM {view} GROUP BY {column_list(keys)}"
        " HAVING count(*) > 1 LIMIT 1"
    )
    for count, *values in found:
        said = f"model `{workspace.build.model.name}` gives {count} rows for one unique key"
        rest = "; it is not known which of them to keep"
        refused = ModelFailed(f"{said} ({_describe_key(keys, values)}){rest}")
        refused.setting, refused.columns = ("strategy", "unique_key"), tuple(keys)
        refused.without_values = f"{said}{rest}"
        raise refused


def example_row(workspace: Workspace, view: str, keys: Sequence[str], where: str) -> str | None:
    """The key of a row of a view of which a condition is true, for people; None without one."""
    found = workspace.ask(f"SELECT {_shown(keys)} FROM {view} WHERE {where} LIMIT 1")
    return _describe_key(keys, found[0]) if found else None


def _shown(keys: Sequence[str]) -> str:
    return ", ".join(f"CAST({quote_name(key)} AS STRING)" for key in keys)


def _describe_key(keys: Sequence[str], values: Sequence[Any]) -> str:
    return ", ".join(
        f"{key} = {'NULL' if value is None else value}"
        for key, value in zip(keys, values, strict=True)
    )
