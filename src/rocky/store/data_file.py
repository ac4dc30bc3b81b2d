"""A data file: a Parquet file of a table, whose name is the BLAKE3 of its bytes.

All files of a table lie flat in its folder, also those of a partitioned table: partition columns
are stored in the files as well, so equal names mean equal rows, and Iceberg readers find every
column. A file of a clone in an object store may lie in the folder of the table that was cloned:
its path is then a whole URI.

Two files of equal bytes would share one name, so the second is salted. A Parquet reader finds the
footer from the end of the file and every page by an offset from its start, so bytes between the
last page and the footer are never looked at. Copy number `n` of some bytes is always salted in the
same way: equal builds give equal names. Copy 0 is the file itself.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Final, NewType

Address = NewType("Address", str)
"""The hex BLAKE3 of a file's bytes."""

SUFFIX = ".parquet"
_ADDRESSED: Final = re.compile(r"[0-9a-f]{64}\.parquet")
_URI: Final = "://"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of a table as its log keeps it. `stats` is Delta's JSON text of statistics.

    `path` is relative to the table, or the URI of a file that lies elsewhere. `rows_mark` tells
    the hash of its rows, if it is known (`rocky.store.rows_mark`).
    """

    path: str
    size: int
    rows: int
    stats: str
    partition_values: Mapping[str, str | None]
    modified_ms: int
    rows_mark: str = ""

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
        return is_uri(self.path)


def is_addressed(path: str) -> bool:
    """Whether a path is one that Rocky gives: files of other tools are not named by their bytes."""
    return _ADDRESSED.fullmatch(name_of(path)) is not None


def is_uri(path: str) -> bool:
    """Whether a path of a log is a URI."""
    return _URI in path


def name_of(path: str) -> str:
    """The path of a file as if it lay in the table's folder: equal names are equal bytes."""
    return path.rpartition("/")[2] if is_uri(path) else path


def path_of(address: Address) -> str:
    """Where a file of this address lies, relative to its table."""
    return f"{address}{SUFFIX}"


MAGIC: Final = b"PAR1"
TAIL: Final = 8
"""The length of the footer (four bytes, little-endian) and the magic end a Parquet file."""

CHUNK: Final = 8 * 1024 * 1024
_MARK: Final = b"rocky.copy"


class NotParquet(ValueError):
    """Bytes that do not end as a Parquet file does."""


def salt_of(count: int) -> bytes:
    """The bytes that tell copy `count` from the others. Copy 0 has none."""
    return _MARK + struct.pack("<Q", count) if count else b""


def footer_start(size: int, tail: bytes) -> int:
    """Where the footer of a file of `size` bytes begins, said by its last eight bytes."""
    if len(tail) != TAIL or tail[4:] != MAGIC:
        raise NotParquet("no Parquet footer at the end")
    (length,) = struct.unpack("<I", tail[:4])
    start = size - TAIL - int(length)
    if start < len(MAGIC):
        raise NotParquet("a footer longer than the file")
    return start


def salted(data: bytes, count: int) -> bytes:
    """Copy `count` of a Parquet file."""
    at = footer_start(len(data), data[-TAIL:])
    return data[:at] + salt_of(count) + data[at:]


def salted_chunks(file: BinaryIO, size: int, count: int) -> Iterator[bytes]:
    """Copy `count` of an open Parquet file of `size` bytes, a piece at a time."""
    at = find_footer(file, size)
    yield from read_pieces(file, 0, at)
    yield salt_of(count)
    yield from read_pieces(file, at, size)


def find_footer(file: BinaryIO, size: int) -> int:
    """Where the footer of an open Parquet file of `size` bytes begins."""
    file.seek(max(size - TAIL, 0))
    return footer_start(size, file.read(TAIL))


def read_pieces(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    """The bytes of an open file from one place to another, a piece at a time."""
    file.seek(start)
    while start < end:
        piece = file.read(min(CHUNK, end - start))
        if not piece:
            raise NotParquet("the file became shorter while it was read")
        start += len(piece)
        yield piece
