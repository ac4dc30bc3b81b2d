"""A checkpoint: a table's log up to a version as one Parquet file, which readers believe.

They do not look at the commits it stands for, so whoever can put one beside a log can change the
table for them. What it says can be compared with what the commits say.
"""

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.store.delta.actions import Action
from rocky.store.delta.snapshot import Replay, Snapshot

_KINDS: Final = ("protocol", "metaData", "txn", "add", "remove")
_SIDECAR: Final = "sidecar"
_MAPS: Final = frozenset({"configuration", "partitionValues", "options", "tags"})
# What an added file may say of itself here. Anything else could tell readers otherwise than its
# statistics and partition values do, which are compared.
_OF_FILE: Final = frozenset(
    {"path", "partitionValues", "size", "modificationTime", "dataChange", "stats", "tags"}
)
_MALFORMED: Final = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class CheckpointUnreadable(ValueError):
    """A checkpoint that is damaged, or of a kind Rocky does not know."""


def read_checkpoint(data: bytes) -> list[Action]:
    """The actions of a checkpoint, as commits would spell them. Raises CheckpointUnreadable."""
    try:
        return _actions(data)
    except CheckpointUnreadable:
        raise
    except (pa.ArrowException, OSError, *_MALFORMED) as error:
        # Names or texts that are none, or a text where a map should be: Parquet does not mind.
        raise CheckpointUnreadable(f"it is damaged ({error})") from error


def _actions(data: bytes) -> list[Action]:
    file = pq.ParquetFile(io.BytesIO(data))
    names = file.schema_arrow.names
    table = file.read(columns=[kind for kind in (*_KINDS, _SIDECAR) if kind in names])
    if _SIDECAR in table.column_names and table[_SIDECAR].null_count < table.num_rows:
        raise CheckpointUnreadable("it keeps its actions in other files, which Rocky does not read")
    return [
        {kind: _plain(action)}
        for kind in _KINDS
        if kind in table.column_names
        for action in _rows(table[kind].drop_null())
    ]


def _rows(actions: pa.ChunkedArray) -> Iterator[dict[str, Any]]:
    """Structs one by one: put together from their columns, which is twice as fast."""
    for chunk in actions.chunks:
        names = [each.name for each in chunk.type]
        columns = [each.to_pylist() for each in chunk.flatten()]
        for row in zip(*columns, strict=True):
            yield dict(zip(names, row, strict=True))


def _plain(action: dict[str, Any]) -> dict[str, Any]:
    """An action as JSON has it: absent instead of null, and maps, not lists of pairs."""
    plain = {
        name: dict(value) if name in _MAPS else value
        for name, value in action.items()
        if value is not None
    }
    if "format" in plain:
        plain["format"] = _plain(plain["format"])
    return plain


def tells_of(data: bytes, snapshot: Snapshot) -> bool:
    """Whether a checkpoint says what a snapshot made of commits does, and no more."""
    try:
        actions = read_checkpoint(data)
        if any(each.get("add", {}).keys() - _OF_FILE for each in actions):
            return False
        replay = Replay()
        replay.apply(actions, snapshot.timestamp_ms)
        found = replay.snapshot(snapshot.version, foreign=True)
        return _facts(found) == _facts(snapshot)
    except _MALFORMED:
        return False


def _facts(snapshot: Snapshot) -> tuple[object, ...]:
    return (
        snapshot.files,
        snapshot.transactions,
        snapshot.protocol,
        _described(snapshot.metadata),
    )


def _described(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A `metaData` action whichever way it is spelled."""
    said = {name: value for name, value in metadata.items() if value is not None}
    return {
        **said,
        "schemaString": json.loads(said["schemaString"]),
        "configuration": said.get("configuration") or {},
        "partitionColumns": list(said.get("partitionColumns") or ()),
    }
