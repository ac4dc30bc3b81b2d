"""Answers from a table's own log: nulls and highest values that its files' statistics know.

An answer counts only when every file gives its part; otherwise there is none, and Spark is asked.
So the checks of a table that nothing has changed cost no job at all.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from rocky.datatypes.types import StructField
from rocky.store.snapshot import Snapshot

_MAPPING: Final = "delta.columnMapping.mode"
_MOMENTS: Final = frozenset({"timestamp", "timestamp_ntz", "date"})


def find_column(snapshot: Snapshot, name: str) -> StructField | None:
    """A table's column by name, as Spark compares names."""
    return next((each for each in snapshot.schema if each.name.lower() == name.lower()), None)


def nulls_of(snapshot: Snapshot, column: StructField) -> int | None:
    """How many rows have no value in a column; None when some file does not say."""
    total = 0
    for stats in _statistics(snapshot, column):
        found = stats.get("nullCount", {}).get(column.name) if stats else None
        if not isinstance(found, int):
            return None
        total += found
    return total


def newest_of(snapshot: Snapshot, column: StructField) -> datetime | None:
    """The highest moment of a column, to the millisecond; None when some file does not say."""
    if column.type.kind not in _MOMENTS:
        return None
    newest: datetime | None = None
    for stats, rows in zip(_statistics(snapshot, column), _rows(snapshot), strict=True):
        if stats is None:
            return None
        if stats.get("nullCount", {}).get(column.name) == rows:
            continue
        moment = _moment(stats.get("maxValues", {}).get(column.name))
        if moment is None:
            return None
        newest = moment if newest is None else max(newest, moment)
    return newest


def _statistics(snapshot: Snapshot, column: StructField) -> Iterator[Mapping[str, Any] | None]:
    """The statistics of each file; None where they cannot be about this column."""
    # Statistics are by stored name, and leave out partition columns.
    unclear = (
        snapshot.configuration.get(_MAPPING, "none") != "none"
        or column.name in snapshot.partition_columns
    )
    for file in snapshot.files:
        stats = None if unclear else json.loads(file.stats)
        yield stats if isinstance(stats, dict) else None


def _rows(snapshot: Snapshot) -> Iterator[int]:
    return (file.rows for file in snapshot.files)


def _moment(text: object) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # Sessions are held to UTC, so a time without a zone is one there.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
