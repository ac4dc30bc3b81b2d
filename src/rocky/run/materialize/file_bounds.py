"""What a table's log says about the values in each file, read from Delta's statistics.

A bound that is absent says nothing. Texts are compared as Python compares them, by code point,
which is the order of their UTF-8 bytes; times are texts of one width, so they compare as texts too.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from rocky.datatypes.types import INTEGRAL_KINDS, DataType
from rocky.store.files import DataFile
from rocky.store.snapshot import Snapshot

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
