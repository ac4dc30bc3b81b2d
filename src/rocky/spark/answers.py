"""Small answers of Spark as Python values: never a table's rows."""

from typing import Any


def take_rows(frame: Any, limit: int) -> list[tuple[Any, ...]]:
    """The first rows of a frame, as tuples."""
    return [tuple(row) for row in frame.limit(limit).collect()]
