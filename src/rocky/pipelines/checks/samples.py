"""Samples: a few rows that show what a check found. Shown, never recorded."""

from typing import NamedTuple


class Sample(NamedTuple):
    """Rows as texts, under the names of their columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
