"""Data files: Parquet files whose name is the BLAKE3 of their bytes.

All files of a table lie flat in its folder, also those of a partitioned table: partition columns
are stored in the files as well, so equal names mean equal rows, and Iceberg readers find every
column. A file of a clone in an object store may lie elsewhere, in the folder of the table that was
cloned: its path is then a whole URI.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NewType

Address = NewType("Address", str)
"""The hex BLAKE3 of a file's bytes."""

SUFFIX = ".parquet"
_ADDRESSED: Final = re.compile(r"[0-9a-f]{64}\.parquet")
_SCHEME: Final = "://"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a table as its log keeps it. `stats` is Delta's JSON text of statistics.

    `path` is relative to the table, or the URI of a file that lies elsewhere.
    """

    path: str
    size: int
    rows: int
    stats: str
    partition_values: Mapping[str, str | None]
    modified_ms: int

    @property
    def address(self) -> Address:
        return Address(self.name.removesuffix(SUFFIX))

    @property
    def name(self) -> str:
        """The path that the file has, or would have, in the table's own folder."""
        return name_of(self.path)

    @property
    def is_elsewhere(self) -> bool:
        """Whether it does not lie in the table's folder."""
        return is_elsewhere(self.path)


def is_addressed(path: str) -> bool:
    """Whether a path is one that Rocky gives: files of other tools are not named by their bytes."""
    return _ADDRESSED.fullmatch(name_of(path)) is not None


def is_elsewhere(path: str) -> bool:
    """Whether a path of a log is a URI."""
    return _SCHEME in path


def name_of(path: str) -> str:
    """The path of a file as if it lay in the table's folder: equal names are equal bytes."""
    return path.rpartition("/")[2] if is_elsewhere(path) else path


def path_of(address: Address) -> str:
    """Where a file of this address lies, relative to its table."""
    return f"{address}{SUFFIX}"
