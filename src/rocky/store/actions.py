"""Actions: the lines of a Delta log, to and from JSON.

Paths in them are percent-encoded; `DataFile.path` is not. They are relative to the table, or, for a
file of another table that a clone shares, a whole URI.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from rocky.store.files import DataFile, is_addressed, is_elsewhere

Action = dict[str, Any]


class UnsupportedAction(ValueError):
    """An action that is well formed and means something Rocky does not know."""


def format_commit(actions: Iterable[Action]) -> bytes:
    """The bytes of a commit file."""
    lines = (json.dumps(action, separators=(",", ":"), ensure_ascii=False) for action in actions)
    return "".join(f"{line}\n" for line in lines).encode()


def parse_commit(data: bytes) -> list[Action]:
    """The actions of a commit file. Raises `ValueError` for bytes that are none."""
    actions = [json.loads(line) for line in data.splitlines() if line.strip()]
    if not actions or not all(isinstance(action, dict) for action in actions):
        raise ValueError("it holds no actions")
    return actions


def format_add(file: DataFile) -> Action:
    return {
        "add": {
            "path": quote(file.path, safe="/=:"),
            "partitionValues": dict(file.partition_values),
            "size": file.size,
            "modificationTime": file.modified_ms,
            "dataChange": True,
            "stats": file.stats,
        }
    }


def format_remove(file: DataFile, deleted_ms: int) -> Action:
    return {
        "remove": {
            "path": quote(file.path, safe="/=:"),
            "deletionTimestamp": deleted_ms,
            "dataChange": True,
            "extendedFileMetadata": True,
            "partitionValues": dict(file.partition_values),
            "size": file.size,
        }
    }


def format_txn(application: str, version: int, now_ms: int) -> Action:
    return {"txn": {"appId": application, "version": version, "lastUpdated": now_ms}}


def parse_path(action: Mapping[str, Any]) -> str:
    """The path of an add or remove: relative to the table, or the URI of a file of ours."""
    path = unquote(action["path"])
    shared = is_elsewhere(path) and is_addressed(path)
    if not shared and (is_elsewhere(path) or path.startswith(("/", "file:"))):
        raise UnsupportedAction(f"it refers to a file outside the table, `{path}`")
    return path


def parse_add(action: Mapping[str, Any]) -> DataFile:
    """The file that an add action brings. Raises `ValueError` where it cannot be read right."""
    path = parse_path(action)
    if action.get("deletionVector") is not None:
        raise UnsupportedAction(f"file `{path}` has a deletion vector")
    stats = str(action.get("stats") or "{}")
    rows = json.loads(stats).get("numRecords")
    if rows is None:
        raise UnsupportedAction(f"file `{path}` comes without a count of its rows")
    return DataFile(
        path=path,
        size=int(action["size"]),
        rows=int(rows),
        stats=stats,
        partition_values=dict(action.get("partitionValues") or {}),
        modified_ms=int(action["modificationTime"]),
    )
