"""A snapshot: everything a table's log says at one version."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rocky.datatypes.types import StructField
from rocky.store.files import DataFile

ROWS_HASH: Final = "rocky.rowsHash"
"""Table property: the order-independent 128-bit hash of all rows, 32 hex digits."""
WATERMARK: Final = "rocky.watermark"
"""Table property of an incremental model: the highest value loaded, as JSON."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at a version. `files` is sorted by path; `configuration` holds table properties.

    `transactions` maps an application id to its highest committed version: what makes a retried
    append harmless.
    """

    version: int
    schema: tuple[StructField, ...]
    partition_columns: tuple[str, ...]
    files: tuple[DataFile, ...]
    configuration: Mapping[str, str]
    transactions: Mapping[str, int]
    table_id: str
    timestamp_ms: int

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)
