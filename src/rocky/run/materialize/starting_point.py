"""A starting point: a table as a strategy finds it, already in the columns it will have afterwards.

A strategy says which files the table holds in the end; what is added and removed is the difference
to the snapshot it started from. A table whose columns widened has been rewritten by then, so its
files here are not those of the snapshot: both go with the same commit.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rocky.language.datatypes.types import StructField
from rocky.run.materialize.build import Build
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change, Committed, Operation
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK, Snapshot

_MODULUS: Final = 1 << 128


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """What a strategy builds on. `evolved` when the table's columns are about to change.

    `columns` are the model's, which rows are held to when they are written; in `schema`, the
    table's, more may be null, because its files were written under an earlier promise.
    """

    snapshot: Snapshot
    schema: tuple[StructField, ...]
    columns: tuple[StructField, ...]
    files: tuple[DataFile, ...]
    rows_hash: str
    evolved: bool = False

    def seen_as(self, files: Sequence[DataFile]) -> Snapshot:
        """The table as if it held just these files."""
        return replace(self.snapshot, schema=self.schema, files=tuple(files))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.schema)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a table holds in the end, and what its commit says besides."""

    files: tuple[DataFile, ...]
    rows_hash: str
    watermark: str | None = None
    transaction: tuple[str, int] | None = None


def commit_replacement(
    build: Build,
    snapshot: Snapshot | None,
    schema: tuple[StructField, ...],
    outcome: Outcome,
) -> Committed:
    """One commit after which the table holds these files and no others.

    A table that was not there must still not be: then this is no replacement, and is refused.
    """
    return build.table.commit(
        Change(
            "OVERWRITE" if snapshot is None else "REPLACE",
            snapshot,
            schema,
            build.layout.partition_columns,
            outcome.files,
            properties=_properties(None, outcome),
            info=build.commit_info,
            transaction=outcome.transaction,
            authority=build.authority,
        )
    )


def commit_outcome(
    build: Build, operation: Operation, base: StartingPoint, outcome: Outcome
) -> Committed | None:
    """One commit that turns the base into the outcome; None when they are the same."""
    before = {file.path: file for file in base.snapshot.files}
    after = {file.path: file for file in outcome.files}
    properties = _properties(base.snapshot, outcome)
    if before.keys() == after.keys() and not base.evolved and WATERMARK not in properties:
        return None
    return build.table.commit(
        Change(
            operation,
            base.snapshot,
            base.schema,
            base.snapshot.partition_columns,
            tuple(file for path, file in after.items() if path not in before),
            frozenset(before.keys() - after.keys()),
            properties,
            build.commit_info,
            outcome.transaction,
            build.authority,
        )
    )


def _properties(snapshot: Snapshot | None, outcome: Outcome) -> Mapping[str, str]:
    """The table's properties after a commit: a watermark that no longer holds is emptied."""
    found = {ROWS_HASH: outcome.rows_hash}
    stale = snapshot is not None and snapshot.configuration.get(WATERMARK)
    if outcome.watermark or stale:
        found[WATERMARK] = outcome.watermark or ""
    return found


NO_ROWS: Final = "0" * 32
"""The hash of no rows at all."""


def add_hashes(hashes: Iterable[str]) -> str:
    """The hash of all rows together, from the hashes of disjoint parts."""
    return _hex(sum(int(each, 16) for each in hashes))


def subtract_hash(whole: str, part: str) -> str:
    """The hash of the rows that stay when a part is taken away."""
    return _hex(int(whole, 16) - int(part, 16))


def _hex(value: int) -> str:
    return f"{value % _MODULUS:032x}"
