"""Differences of rows: what a comparison of two tables came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from rocky.changes.change import Change


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
class ChangedRow:
    """A row that both have: its key, and the columns that changed, before and after, as texts."""

    key: Mapping[str, str | None]
    values: Mapping[str, tuple[str | None, str | None]]


@dataclass(frozen=True, slots=True)
class TableDifference:
    """Two states of one table. `rows_before` is None where there was no table.

    Without a key rows are told apart by all they hold: a changed row is then one removed and one
    added, and `changed` is None. So it is where `duplicate_keys` share rows. `per_column` counts
    changed rows by column; `not_compared` are columns whose types cannot be compared. Files that
    both states have were not read.
    """

    target: str
    rows_before: int | None
    rows_after: int
    added: int
    removed: int
    changed: int | None = None
    key: RowKey = NO_KEY
    duplicate_keys: int = 0
    columns: tuple[Change, ...] = ()
    per_column: Mapping[str, int] = field(default_factory=dict)
    not_compared: tuple[str, ...] = ()
    sample: tuple[ChangedRow, ...] = ()
    files_read: int = 0
    files_shared: int = 0


@dataclass(frozen=True, slots=True)
class DataDiff:
    """All tables of a branch that differ, and how many do not.

    `compared_with` is `production`, which stands for the tables of the `parent` as they are now, or
    `base`, for those that the branch was made of.
    """

    branch: str
    parent: str
    compared_with: str
    tables: tuple[TableDifference, ...]
    same: int
