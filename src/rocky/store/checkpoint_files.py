"""Checkpoint files: the actions of a log up to one version, as rows of Parquet."""

import io
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.store.actions import Action

_KINDS: Final = ("protocol", "metaData", "txn", "add", "remove")
_SIDECAR: Final = "sidecar"
_MAPS: Final = frozenset({"configuration", "partitionValues", "options", "tags"})


class CheckpointUnreadable(ValueError):
    """A checkpoint that is damaged, or of a kind Rocky does not know."""


def read_checkpoint(data: bytes) -> list[Action]:
    """The actions of a checkpoint, as commits would spell them."""
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        names = file.schema_arrow.names
        table = file.read(columns=[kind for kind in (*_KINDS, _SIDECAR) if kind in names])
    except (pa.ArrowException, OSError) as error:
        raise CheckpointUnreadable(f"it is damaged ({error})") from error
    if _SIDECAR in table.column_names and table[_SIDECAR].null_count < table.num_rows:
        raise CheckpointUnreadable("it keeps its actions in other files, which Rocky does not read")
    return [
        {kind: _plain(action)}
        for kind in _KINDS
        if kind in table.column_names
        for action in table[kind].drop_null().to_pylist()
    ]


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
