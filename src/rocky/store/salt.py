"""Salt: bytes that make one of two equal Parquet files different, without a reader noticing.

A Parquet reader finds the footer from the end of the file and every page by an offset from its
start, so bytes between the last page and the footer are never looked at. Copy number `n` of some
bytes is always salted in the same way: equal builds give equal names. Copy 0 is the file itself.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

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
