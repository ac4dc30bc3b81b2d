"""A snapshot: everything a table's log says at one version."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from blake3 import blake3

from rocky.datatypes.types import StructField
from rocky.store.files import DataFile, name_of
from rocky.store.protocol import DEFAULT, Protocol

ROWS_HASH: Final = "rocky.rowsHash"
"""Table property: the order-independent 128-bit hash of all rows, 32 hex digits."""
FILES_HASH: Final = "rocky.filesHash"
"""Table property: `files_hash` of the files that `ROWS_HASH` was computed of.

Other tools change a table and leave its properties as they are; so the rows hash is believed only
while the files are still these.
"""
WATERMARK: Final = "rocky.watermark"
"""Table property of an incremental model: the highest value loaded, as JSON."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at a version. `files` is sorted by name; `configuration` holds table properties.

    `transactions` maps an application id to its highest committed version: what makes a retried
    append harmless. `metadata` is the log's own `metaData` action, whose other keys commits keep.
    """

    version: int
    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    files: tuple[DataFile, ...]
    configuration: Mapping[str, str]
    transactions: Mapping[str, int]
    table_id: str
    timestamp_ms: int
    protocol: Protocol = DEFAULT
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


def files_hash(paths: Iterable[str]) -> str:
    """The hex BLAKE3 of the sorted names of files, a line each: a clone has the same ones."""
    names = sorted(map(name_of, paths))
    return blake3("".join(f"{name}\n" for name in names).encode()).hexdigest()
