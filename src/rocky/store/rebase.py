"""Rebase: a change computed from one snapshot, said for the snapshot that is there now.

Pure: it reads and writes nothing. Blind appends and whole replacements hold on any snapshot. Other
changes hold only while the table's files and columns are what they were computed from; equal paths
are equal bytes, so that is a comparison of names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocky.datatypes.types import StructField
from rocky.errors import ChangeRefused, ConcurrentChange
from rocky.store.change import Change
from rocky.store.evolution import evolves, same_columns
from rocky.store.files import DataFile
from rocky.store.snapshot import FILES_HASH, ROWS_HASH, Snapshot

OURS: Final = "rocky."
"""What the properties begin with that say something of the rows."""
_OF_FILES: Final = frozenset({ROWS_HASH, FILES_HASH})
_MODULUS: Final = 2**128


@dataclass(frozen=True, slots=True)
class Rebased:
    """What a change makes of the latest snapshot, before its own files come in.

    `remaining` are the paths that stay live, `leaving` the files that go unless they are added
    again. `rows_hash` is None when the change does not say it; it is not in `configuration`.
    """

    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    configuration: Mapping[str, str]
    rows_hash: str | None
    remaining: frozenset[str]
    leaving: Mapping[str, DataFile]


def rebase(change: Change, latest: Snapshot | None, table: str) -> Rebased:
    """The change as it applies to `latest`. Raises `ConcurrentChange` or `ChangeRefused`."""
    live = {} if latest is None else {file.path: file for file in latest.files}
    if change.operation == "REPLACE":
        leaving = live
    else:
        if latest is not change.base:
            _refuse_conflict(change, latest, table)
        unknown = change.removes - live.keys()
        if unknown:
            raise ChangeRefused(f"table `{table}` has no file `{min(unknown)}` to remove")
        leaving = {path: live[path] for path in change.removes}
    remaining = frozenset(live) - leaving.keys()
    if latest is not None and leaving and latest.configuration.get("delta.appendOnly") == "true":
        raise ChangeRefused(f"table `{table}` is append-only: `delta.appendOnly` is set")
    return Rebased(
        _evolved(change, latest, table) if latest is not None and remaining else change.schema,
        change.partition_columns,
        _configuration(change, latest),
        _rows_hash(change, latest),
        remaining,
        leaving,
    )


def _refuse_conflict(change: Change, latest: Snapshot | None, table: str) -> None:
    """Raise unless the change, computed from its base, is also right on `latest`."""
    base = change.base
    if latest is None or (base is None and change.operation != "APPEND"):
        raise ConcurrentChange(f"table `{table}` was made or dropped by another writer; run again")
    known = {} if base is None else base.configuration
    for name in change.properties:
        if name != ROWS_HASH and latest.configuration.get(name) != known.get(name):
            raise ConcurrentChange(
                f"another writer changed property `{name}` of table `{table}`; run again"
            )
    if base is None or change.operation == "APPEND":
        return
    if [file.path for file in base.files] != [file.path for file in latest.files]:
        raise ConcurrentChange(f"another writer changed the rows of table `{table}`; run again")
    if not same_columns(base.schema, latest.schema):
        raise ConcurrentChange(f"another writer changed the columns of table `{table}`; run again")


def _evolved(change: Change, latest: Snapshot, table: str) -> tuple[StructField, ...]:
    """The columns after a change that keeps files of `latest`."""
    if change.partition_columns != latest.partition_columns:
        raise ChangeRefused(
            f"table `{table}` is partitioned by ({', '.join(latest.partition_columns)}), the change"
            f" by ({', '.join(change.partition_columns)}); build the whole table again"
        )
    if same_columns(change.schema, latest.schema):
        return latest.schema
    base = change.base
    if base is not None and not same_columns(base.schema, latest.schema):
        # Another writer changed the columns. Rows of the old ones still fit when it only added.
        if same_columns(change.schema, base.schema) and evolves(base.schema, latest.schema) is None:
            return latest.schema
        raise ConcurrentChange(f"another writer changed the columns of table `{table}`; run again")
    why = evolves(latest.schema, change.schema)
    if why is not None:
        raise ChangeRefused(
            f"table `{table}` cannot keep its files: {why}; build the whole table again"
        )
    return change.schema


def _configuration(change: Change, latest: Snapshot | None) -> dict[str, str]:
    """The table properties, without those that are about the files of one version."""
    kept = {} if latest is None else dict(latest.configuration)
    if change.operation == "REPLACE":
        # They describe rows that are gone, such as a watermark.
        kept = {name: value for name, value in kept.items() if not name.startswith(OURS)}
    merged = kept | dict(change.properties)
    return {name: value for name, value in merged.items() if name not in _OF_FILES}


def _rows_hash(change: Change, latest: Snapshot | None) -> str | None:
    """The rows hash after the change: a sum over rows, so what is appended is a difference."""
    said = change.properties.get(ROWS_HASH)
    if said is None or change.operation != "APPEND" or latest is change.base:
        return said
    before, now = _hash_sum(change.base), _hash_sum(latest)
    if before is None or now is None:
        return None
    return f"{(now + int(said, 16) - before) % _MODULUS:032x}"


def _hash_sum(snapshot: Snapshot | None) -> int | None:
    if snapshot is None or not snapshot.files:
        return 0
    found = snapshot.configuration.get(ROWS_HASH)
    return None if found is None else int(found, 16)
