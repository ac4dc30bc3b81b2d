"""Composition: the actions of a commit, from a rebased change and its files. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.datatypes.types import StructField
from rocky.store.actions import Action, format_add, format_remove, format_txn
from rocky.store.change import Change, Operation
from rocky.store.delta_schema import format_schema, required_features
from rocky.store.evolution import same_columns
from rocky.store.files import DataFile, name_of
from rocky.store.protocol import DEFAULT, extend_protocol, format_protocol
from rocky.store.rebase import Rebased
from rocky.store.snapshot import FILES_HASH, ROWS_HASH, Snapshot, files_hash
from rocky.version import __version__

TOKEN: Final = "txnId"
"""The key of commitInfo by which a writer knows its own commit again."""

_OPERATIONS: Final[Mapping[Operation, tuple[str, dict[str, str]]]] = {
    "REPLACE": ("WRITE", {"mode": "Overwrite"}),
    "APPEND": ("WRITE", {"mode": "Append"}),
    "MERGE": ("MERGE", {}),
    "OVERWRITE": ("WRITE", {"mode": "Overwrite"}),
}


@dataclass(frozen=True, slots=True)
class Composed:
    """The actions of one commit, and what they do to the files."""

    actions: list[Action]
    added: tuple[DataFile, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a commit owes to the moment: the time, a token, the id of a table to be made."""

    now_ms: int
    token: str
    table_id: str


def compose(
    change: Change,
    rebased: Rebased,
    files: Sequence[DataFile],
    latest: Snapshot | None,
    occasion: Occasion,
) -> Composed:
    """The commit that brings `files` into the table; no path is both added and removed."""
    # By name: bytes that the table has, there or elsewhere, stay as they are.
    names, leaving = {file.name for file in files}, set(map(name_of, rebased.leaving))
    paths = {file.path for file in files}
    added = tuple(file for file in files if file.name not in leaving)
    removed = [file for _, file in sorted(rebased.leaving.items()) if file.name not in names]
    actions: list[Action] = [
        {"commitInfo": _commit_info(change, rebased, added, occasion)},
        *_protocol(rebased, latest),
        *_metadata(rebased, paths, latest, occasion),
        *map(format_add, added),
        *(format_remove(file, occasion.now_ms) for file in removed),
    ]
    if change.transaction is not None:
        actions.append(format_txn(*change.transaction, occasion.now_ms))
    return Composed(actions, added, tuple(file.path for file in removed))


def _protocol(rebased: Rebased, latest: Snapshot | None) -> list[Action]:
    protocol = DEFAULT if latest is None else latest.protocol
    missing = required_features(rebased.schema) - (protocol.writer_features or frozenset())
    if latest is not None and not missing:
        return []
    return [{"protocol": format_protocol(extend_protocol(protocol, missing))}]


def _metadata(
    rebased: Rebased, paths: set[str], latest: Snapshot | None, occasion: Occasion
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
            "schemaString": _schema_text(rebased.schema, latest),
            "partitionColumns": list(rebased.partition_columns),
            "configuration": _configuration(rebased, paths, latest),
        }
    )
    return [] if metadata == before else [{"metaData": metadata}]


def _schema_text(schema: tuple[StructField, ...], latest: Snapshot | None) -> str:
    # Columns that stay keep what others have noted beside them, such as comments.
    if latest is not None and latest.metadata and same_columns(schema, latest.schema):
        return str(latest.metadata["schemaString"])
    return format_schema(schema)


def _configuration(rebased: Rebased, paths: set[str], latest: Snapshot | None) -> dict[str, str]:
    """The table properties, with a rows hash only where it is of exactly these files."""
    digest = files_hash(rebased.remaining | paths)
    rows_hash = rebased.rows_hash
    if rows_hash is None and latest is not None and latest.configuration.get(FILES_HASH) == digest:
        rows_hash = latest.configuration.get(ROWS_HASH)
    if rows_hash is None:
        return dict(rebased.configuration)
    return {**rebased.configuration, ROWS_HASH: rows_hash, FILES_HASH: digest}


def _commit_info(
    change: Change, rebased: Rebased, added: Sequence[DataFile], occasion: Occasion
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
