"""Data files: Parquet files whose name is the BLAKE3 of their bytes.

All files of a table lie flat in its folder, also those of a partitioned table: partition columns
are stored in the files as well, so equal names mean equal rows, and Iceberg readers find every
column.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NewType

Address = NewType("Address", str)
"""The hex BLAKE3 of a file's bytes."""

SUFFIX = ".parquet"
_ADDRESSED: Final = re.compile(r"[0-9a-f]{64}\.parquet")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a table as its log keeps it. `stats` is Delta's JSON text of statistics."""

    path: str
    size: int
    rows: int
    stats: str
    partition_values: Mapping[str, str | None]
    modified_ms: int

    @property
    def address(self) -> Address:
        return Address(self.path.removesuffix(SUFFIX))


def is_addressed(path: str) -> bool:
    """Whether a path is one that Rocky gives: files of other tools are not named by their bytes."""
    return _ADDRESSED.fullmatch(path) is not None


def path_of(address: Address) -> str:
    """Where a file of this address lies, relative to its table."""
    return f"{address}{SUFFIX}"
