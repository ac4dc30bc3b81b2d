"""Keys and their bounds: which files may hold a key, and the refusal of a key that is not unique.

Bounds are read from Delta's statistics; one that is absent says nothing. Texts are compared by code
point, which is the order of their UTF-8 bytes; times are texts of one width.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.errors import ModelFailed
from rocky.language.datatypes.types import INTEGRAL_KINDS, DataType
from rocky.language.names import quote_name
from rocky.run.engine.sql import column_list
from rocky.run.materialize.workspace import Workspace
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import Snapshot

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
    """Where the values of a key column lie: `low` is None when all are null."""

    column: str
    low: Any
    high: Any
    has_null: bool

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
        return bool(bounds.low <= self.high and self.low <= bounds.high)


_ROWS: Final = "__rocky_rows"


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


def inspect_keys(workspace: Workspace, view: str, keys: Sequence[str]) -> list[KeyRange] | None:
    """Where the keys of a view lie, column by column; None when it has no rows.

    Raises ModelFailed when two of its rows have one key.
    """
    columns = [workspace.column(key) for key in keys if is_bounded(workspace.column(key).type)]
    asked = [f"max({_ROWS})"]
    for each in columns:
        kind, name = each.type.kind, quote_name(each.name)
        asked += [_bound("min", name, kind), _bound("max", name, kind), f"count_if({name} IS NULL)"]
    (row,) = workspace.ask(
        f"SELECT {', '.join(asked)} FROM (SELECT {column_list(keys)}, count(*) AS {_ROWS}"
        f" FROM {view} GROUP BY {column_list(keys)})"
    )
    if row[0] is None:
        return None
    if row[0] > 1:
        check_unique(workspace, view, keys)
    return [
        KeyRange(each.name, row[3 * at + 1], row[3 * at + 2], bool(row[3 * at + 3]))
        for at, each in enumerate(columns)
    ]


def _bound(function: str, name: str, kind: str) -> str:
    # A file's bounds of dates are texts.
    value = f"{function}({name})"
    return f"CAST({value} AS STRING)" if kind == "date" else value
