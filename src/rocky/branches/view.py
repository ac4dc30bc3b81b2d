"""A branch as it stands: each of its tables beside what it was made of and what production has.

Nothing is written. A table that cannot be read is raised, never taken for absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rocky.evidence.hashes import content_hash
from rocky.ledger.branch_records import BranchRecord
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse


@dataclass(frozen=True, slots=True)
class BranchTable:
    """One table of a branch. `base` is the parent's version that it was made of.

    `made_of`, `branch` and `production` are the table as it was taken, as the branch has it now and
    as its parent has it now; None where there is no table.
    """

    target: str
    table: Table
    parent_table: Table
    base: int | None
    made_of: Snapshot | None
    branch: Snapshot | None
    production: Snapshot | None

    @property
    def is_changed(self) -> bool:
        """Whether the branch has made something else of it."""
        return not same_content(self.made_of, self.branch)

    @property
    def has_moved(self) -> bool:
        """Whether the parent has made something else of it since it was taken."""
        return not same_content(self.made_of, self.production)

    @property
    def content(self) -> str | None:
        """The hash of the branch's files, as the ledger identifies a table."""
        return None if self.branch is None else table_content(self.branch)


@dataclass(frozen=True, slots=True)
class BranchView:
    """A branch and all its tables, by target."""

    record: BranchRecord
    warehouse: Warehouse
    parent: Warehouse
    tables: Mapping[str, BranchTable]

    @property
    def changed(self) -> tuple[BranchTable, ...]:
        return tuple(each for each in self.tables.values() if each.is_changed)


def table_content(snapshot: Snapshot) -> str:
    """What identifies a table's rows: the hash of its sorted file hashes."""
    return content_hash(file.address for file in snapshot.files)


def same_content(one: Snapshot | None, other: Snapshot | None) -> bool:
    """Whether two snapshots, of one log or of two, are the same to readers and to later runs."""
    if one is None or other is None:
        return one is other
    return _content(one) == _content(other)


def _content(snapshot: Snapshot) -> tuple[object, ...]:
    files = [file.address for file in snapshot.files]
    return sorted(files), snapshot.schema, snapshot.partition_columns, dict(snapshot.configuration)
