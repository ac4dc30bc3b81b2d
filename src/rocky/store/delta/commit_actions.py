"""The actions of a commit: a change that was rebased, as the lines of its file. Pure.

No path is both added and removed by one commit: bytes that the table has stay as they are.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.store.data_file import DataFile, name_of
from rocky.store.delta.actions import (
    DEFAULT_PROTOCOL,
    Action,
    extend_protocol,
    format_add,
    format_protocol,
    format_remove,
    format_txn,
)
from rocky.store.delta.change import Change, Operation, RebasedChange
from rocky.store.delta.comments import Comments, described_metadata, schema_text
from rocky.store.delta.schema import required_features
from rocky.store.delta.signature import FENCE
from rocky.store.delta.snapshot import FILES_HASH, ROWS_HASH, Snapshot, files_hash
from rocky.version import __version__

TOKEN: Final = "txnId"
"""The key of commitInfo by which a writer knows its own commit again."""

OPTIMIZE: Final = "OPTIMIZE"
"""What Delta calls a commit that only cuts the same rows into other files."""

DELETE: Final = "DELETE"
"""And one that only takes rows away."""

_OPERATIONS: Final[Mapping[Operation, tuple[str, dict[str, str]]]] = {
    "REPLACE": ("WRITE", {"mode": "Overwrite"}),
    "APPEND": ("WRITE", {"mode": "Append"}),
    "MERGE": ("MERGE", {}),
    "OVERWRITE": ("WRITE", {"mode": "Overwrite"}),
    "COMPACT": (OPTIMIZE, {}),
    "DELETE": (DELETE, {}),
}


@dataclass(frozen=True, slots=True)
class CommitActions:
    """The actions of one commit, and what they do to the files."""

    actions: list[Action]
    added: tuple[DataFile, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitStamp:
    """What a commit owes to the moment: the time, a token, the id of a table to be made."""

    now_ms: int
    token: str
    table_id: str


_CLOCKS_DIFFER_MS: Final = 24 * 3_600_000


def time_after(latest: Snapshot | None, now_ms: int) -> int:
    """The time of a commit that is made now, on top of a version.

    Time travel by time needs times that do not run back, and clocks of writers differ. But one that
    is far ahead is no clock's: all later commits would have to say the same, which may be a number
    that no reader of Delta can read.
    """
    if latest is None or latest.timestamp_ms - now_ms > _CLOCKS_DIFFER_MS:
        return now_ms
    return max(now_ms, latest.timestamp_ms)


def compose(
    change: Change,
    rebased: RebasedChange,
    files: Sequence[DataFile],
    latest: Snapshot | None,
    occasion: CommitStamp,
) -> CommitActions:
    """The commit that brings `files` into the table; no path is both added and removed."""
    # By name: bytes that the table has, there or elsewhere, stay as they are.
    names, leaving = {file.name for file in files}, set(map(name_of, rebased.leaving))
    paths = {file.path for file in files}
    added = tuple(file for file in files if file.name not in leaving)
    removed = [file for _, file in sorted(rebased.leaving.items()) if file.name not in names]
    changes = change.operation != "COMPACT"
    actions: list[Action] = [
        {"commitInfo": _commit_info(change, rebased, added, occasion)},
        *_protocol(rebased, latest),
        *_metadata(rebased, paths, latest, occasion, change.comments),
        *(format_add(file, data_change=changes) for file in added),
        *(format_remove(file, occasion.now_ms, data_change=changes) for file in removed),
    ]
    fence = change.authority.fence
    marks = {} if fence is None else {FENCE: fence}
    marks |= {} if change.transaction is None else dict([change.transaction])
    actions += (format_txn(name, mark, occasion.now_ms) for name, mark in marks.items())
    return CommitActions(actions, added, tuple(file.path for file in removed))


def _protocol(rebased: RebasedChange, latest: Snapshot | None) -> list[Action]:
    protocol = DEFAULT_PROTOCOL if latest is None else latest.protocol
    missing = required_features(rebased.schema) - (protocol.writer_features or frozenset())
    if latest is not None and not missing:
        return []
    return [{"protocol": format_protocol(extend_protocol(protocol, missing))}]


def _metadata(
    rebased: RebasedChange,
    paths: set[str],
    latest: Snapshot | None,
    occasion: CommitStamp,
    comments: Comments | None,
) -> list[Action]:
    """The `metaData` action, unless the log says the same already."""
    before: Mapping[str, Any] = {} if latest is None else latest.metadata
    made = {
        "id": occasion.table_id,
        "format": {"provider": "parquet", "options": {}},
        "createdTime": occasion.now_ms,
    }
    metadata = (
        made
        | dict(before)
        | {
            "schemaString": schema_text(rebased.schema, comments, latest),
            "partitionColumns": list(rebased.partition_columns),
            "configuration": _new_properties(rebased, paths, latest),
        }
    )
    metadata = described_metadata(metadata, comments, latest)
    return [] if metadata == before else [{"metaData": metadata}]


def _new_properties(
    rebased: RebasedChange, paths: set[str], latest: Snapshot | None
) -> dict[str, str]:
    """The table properties, with a rows hash only where it is of exactly these files.

    That of the files is always there: it shows a commit whose base somebody had altered meanwhile.
    """
    digest = files_hash(rebased.remaining | paths)
    rows_hash = rebased.rows_hash
    if rows_hash is None and latest is not None and latest.configuration.get(FILES_HASH) == digest:
        rows_hash = latest.configuration.get(ROWS_HASH)
    hashes = (
        {FILES_HASH: digest} if rows_hash is None else {ROWS_HASH: rows_hash, FILES_HASH: digest}
    )
    return {**rebased.configuration, **hashes}


def _commit_info(
    change: Change, rebased: RebasedChange, added: Sequence[DataFile], occasion: CommitStamp
) -> dict[str, Any]:
    operation, parameters = _OPERATIONS[change.operation]
    partition_by = json.dumps(list(rebased.partition_columns))
    return {
        **change.info,
        "timestamp": occasion.now_ms,
        "operation": operation,
        "operationParameters": {**parameters, "partitionBy": partition_by},
        "operationMetrics": {
            "numFiles": str(len(added)),
            "numOutputRows": str(sum(file.rows for file in added)),
            "numOutputBytes": str(sum(file.size for file in added)),
        },
        "isBlindAppend": change.operation == "APPEND",
        "engineInfo": f"rocky/{__version__}",
        TOKEN: occasion.token,
    }
