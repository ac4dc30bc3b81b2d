"""Actions: the lines of a Delta log, to and from JSON.

Paths in them are percent-encoded; `DataFile.path` is not. They are relative to the table, or, for
a file of another table that a clone shares, a whole URI.

The `protocol` action says which features a table uses. A table is refused rather than misread: a
feature that is not known here may change what a file or a line of the log means.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import quote, unquote

from rocky.store.data_file import DataFile, is_addressed, is_uri
from rocky.store.rows_mark import ROWS_TAG

Action = dict[str, Any]


class UnsupportedAction(ValueError):
    """An action that is well formed and means something Rocky does not know."""


class KeptAction(Mapping[str, Any]):
    """What an action says, kept as text and decoded when it is asked.

    As a dict it takes four times the memory, and the newest of ten thousands of tables are kept.
    """

    __slots__ = ("_text",)

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._text = json.dumps(dict(said))

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        return said if isinstance(said, cls) else cls(said)

    def __getitem__(self, name: str) -> Any:
        return self._decoded()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded())

    def __len__(self) -> int:
        return len(self._decoded())

    def _decoded(self) -> Action:
        found: Action = json.loads(self._text)
        return found


def format_commit(actions: Iterable[Action]) -> bytes:
    """The bytes of a commit file."""
    lines = (json.dumps(action, separators=(",", ":"), ensure_ascii=False) for action in actions)
    return "".join(f"{line}\n" for line in lines).encode()


def parse_commit(data: bytes) -> list[Action]:
    """The actions of a commit file. Raises `ValueError` for bytes that are none."""
    # As text: of bytes every line would be looked at for its encoding.
    actions = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    if not actions or not all(isinstance(action, dict) for action in actions):
        raise ValueError("it holds no actions")
    if not all(
        said is None or isinstance(said, dict) for action in actions for said in action.values()
    ):
        raise ValueError("it holds an action that is no object")
    return actions


def format_add(file: DataFile, *, data_change: bool = True) -> Action:
    """The action that brings a file; not a `data_change` if its rows were there before."""
    tags = {"tags": {ROWS_TAG: file.rows_mark}} if file.rows_mark else {}
    return {
        "add": {
            "path": quote(file.path, safe="/=:"),
            "partitionValues": dict(file.partition_values),
            "size": file.size,
            "modificationTime": file.modified_ms,
            "dataChange": data_change,
            "stats": file.stats,
            **tags,
        }
    }


def format_remove(file: DataFile, deleted_ms: int, *, data_change: bool = True) -> Action:
    """The action that takes a file away; not a `data_change` if its rows stay in others."""
    return {
        "remove": {
            "path": quote(file.path, safe="/=:"),
            "deletionTimestamp": deleted_ms,
            "dataChange": data_change,
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
    shared = is_uri(path) and is_addressed(path)
    if not shared and (is_uri(path) or path.startswith(("/", "file:"))):
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
        rows_mark=str((action.get("tags") or {}).get(ROWS_TAG) or ""),
    )


TABLE_FEATURES_READER: Final = 3
TABLE_FEATURES_WRITER: Final = 7

# Features that only say something may be there; where it is, it is found and refused.
_INERT_READER: Final = frozenset({"columnMapping", "deletionVectors", "vacuumProtocolCheck"})
_READER_FEATURES: Final = _INERT_READER | {"timestampNtz", "variantType"}
_WRITER_FEATURES: Final = _READER_FEATURES | {
    "appendOnly",
    "invariants",
    "checkConstraints",
    "changeDataFeed",
    "generatedColumns",
    "identityColumns",
}
# What a protocol without feature lists means, from the writer version that brought it.
_LEGACY_WRITER: Final = (
    (2, "appendOnly"),
    (2, "invariants"),
    (3, "checkConstraints"),
    (4, "changeDataFeed"),
    (4, "generatedColumns"),
    (5, "columnMapping"),
    (6, "identityColumns"),
)
_COLUMN_MAPPING_READER: Final = 2
# Column metadata that a writer would have to obey.
_RULES: Final = ("delta.invariants", "delta.generationExpression", "delta.identity.start")


@dataclass(frozen=True, slots=True)
class Protocol:
    """The `protocol` action. Feature sets are None below the versions that have them."""

    reader: int = 1
    writer: int = 2
    reader_features: frozenset[str] | None = None
    writer_features: frozenset[str] | None = None


DEFAULT_PROTOCOL: Final = Protocol()
"""The lowest protocol that keeps NOT NULL: what every reader reads."""


def parse_protocol(action: Mapping[str, Any]) -> Protocol:
    reader_features = action.get("readerFeatures")
    writer_features = action.get("writerFeatures")
    return Protocol(
        int(action["minReaderVersion"]),
        int(action["minWriterVersion"]),
        None if reader_features is None else frozenset(reader_features),
        None if writer_features is None else frozenset(writer_features),
    )


def format_protocol(protocol: Protocol) -> dict[str, Any]:
    action: dict[str, Any] = {
        "minReaderVersion": protocol.reader,
        "minWriterVersion": protocol.writer,
    }
    if protocol.reader_features is not None:
        action["readerFeatures"] = sorted(protocol.reader_features)
    if protocol.writer_features is not None:
        action["writerFeatures"] = sorted(protocol.writer_features)
    return action


def extend_protocol(protocol: Protocol, features: frozenset[str]) -> Protocol:
    """The protocol with these features, which stays as low as they allow."""
    if not features:
        return protocol
    legacy_reader = {"columnMapping"} if protocol.reader == _COLUMN_MAPPING_READER else set()
    legacy_writer = {name for version, name in _LEGACY_WRITER if version <= protocol.writer}
    reader = legacy_reader if protocol.reader_features is None else protocol.reader_features
    writer = legacy_writer if protocol.writer_features is None else protocol.writer_features
    return Protocol(
        TABLE_FEATURES_READER,
        TABLE_FEATURES_WRITER,
        frozenset(reader) | features,
        frozenset(writer) | features | reader,
    )


def unreadable_feature(protocol: Protocol, configuration: Mapping[str, str]) -> str | None:
    """What keeps Rocky from reading a table right, or None."""
    unknown = (protocol.reader_features or frozenset()) - _READER_FEATURES
    if unknown:
        return f"Delta feature `{min(unknown)}`"
    if protocol.reader > TABLE_FEATURES_READER:
        return f"Delta reader version {protocol.reader}"
    if configuration.get("delta.columnMapping.mode", "none") != "none":
        return "Delta column mapping"
    return None


def unwritable_feature(
    protocol: Protocol, configuration: Mapping[str, str], schema: str
) -> str | None:
    """What keeps Rocky from writing to a table it can read, or None."""
    unknown = (protocol.writer_features or frozenset()) - _WRITER_FEATURES
    if unknown:
        return f"Delta feature `{min(unknown)}`"
    if protocol.writer > TABLE_FEATURES_WRITER:
        return f"Delta writer version {protocol.writer}"
    if any(name.startswith("delta.constraints.") for name in configuration):
        return "Delta check constraints"
    if configuration.get("delta.enableChangeDataFeed") == "true":
        return "Delta change data feed"
    found = next((rule for rule in _RULES if f'"{rule}"' in schema), None)
    return None if found is None else f"column rule `{found}`"
