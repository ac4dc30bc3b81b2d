"""The digest of a file that Spark has just written: its BLAKE3, its size and its footer.

On a cluster this runs where the data is, sent along by value: executors have, or are sent, `blake3`
and `obstore` but no Rocky, so nothing here may use another module of it. It answers a plain tuple.

The footer is put in order first, in the staged file itself, which nobody else reads. It lists the
encodings of each column's pages, and Java's writer keeps them in a hash set whose order is that of
addresses in memory, so the same rows written by another process have other bytes; Spark offers
nothing to pin it. Readers do not care for the order, so it is made ascending. No byte moves: an
encoding is one byte, and only their order changes.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import obstore
from blake3 import blake3
from obstore.store import S3Store

# Types of the compact Thrift protocol, in which footers are written.
_TRUE, _FALSE, _BYTE = 1, 2, 3
_SMALL_INTEGERS: Final = (4, 5, 6)
_DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 7, 8, 9, 10, 11, 12
# Fields on the way: FileMetaData.row_groups, RowGroup.columns, ColumnChunk.meta_data, .encodings.
_ROW_GROUPS, _COLUMNS, _META_DATA, _ENCODINGS = 4, 1, 3, 2
_ONE_BYTE: Final = 0x80


def order_encodings(footer: bytes) -> bytes:
    """The footer with each column's encodings in ascending order; as it is when it is damaged."""
    try:
        spans = list(_encoding_lists(_ThriftCursor(footer)))
    except (IndexError, _NotThrift):
        return footer
    ordered = bytearray(footer)
    for start, end in spans:
        ordered[start:end] = sorted(footer[start:end])
    return bytes(ordered)


class _NotThrift(ValueError):
    """Bytes that are no compact Thrift."""


class _ThriftCursor:
    """A place in a footer that moves forward."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and type of each field of a struct; its value is read before the next."""
        number = 0
        while head := self.byte():
            kind, step = head & 0x0F, head >> 4
            number = number + step if step else _signed(self.varint())
            yield number, kind

    def elements(self) -> tuple[int, int]:
        """The count and type of a list's elements."""
        head = self.byte()
        count = head >> 4
        return (self.varint() if count == 0x0F else count), head & 0x0F

    def byte(self) -> int:
        found = self._data[self.at]
        self.at += 1
        return found

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < _ONE_BYTE:
                return value
            shift += 7

    def skip(self, kind: int) -> None:
        """Pass over a value."""
        if kind in (_TRUE, _FALSE):
            return
        if kind in _SMALL_INTEGERS:
            self.varint()
        elif kind == _BINARY:
            length = self.varint()
            self.at += length
        elif kind == _STRUCT:
            for _, each in self.fields():
                self.skip(each)
        elif kind in (_LIST, _SET):
            count, each = self.elements()
            for _ in range(count):
                self.skip_element(each)
        elif kind == _MAP:
            self._skip_map()
        elif kind in (_BYTE, _DOUBLE):
            self.at += 1 if kind == _BYTE else 8
        else:
            raise _NotThrift(f"no type {kind}")

    def skip_element(self, kind: int) -> None:
        """Pass over an element of a list: there, a truth value takes a byte."""
        self.skip(_BYTE if kind in (_TRUE, _FALSE) else kind)

    def _skip_map(self) -> None:
        count = self.varint()
        kinds = self.byte() if count else 0
        for _ in range(count):
            self.skip_element(kinds >> 4)
            self.skip_element(kinds & 0x0F)


def _encoding_lists(footer: _ThriftCursor) -> Iterator[tuple[int, int]]:
    """Where the lists of encodings are."""
    for _ in _structs_in(footer, _ROW_GROUPS):
        for _ in _structs_in(footer, _COLUMNS):
            for number, kind in footer.fields():
                if number == _META_DATA and kind == _STRUCT:
                    yield from _lists_in(footer)
                else:
                    footer.skip(kind)


def _structs_in(struct: _ThriftCursor, wanted: int) -> Iterator[None]:
    """Stops before each struct of the list that is a field; each is read before the next."""
    for number, kind in struct.fields():
        if number != wanted or kind != _LIST:
            struct.skip(kind)
            continue
        count, each = struct.elements()
        for _ in range(count):
            if each != _STRUCT:
                raise _NotThrift(f"a list of type {each} where structs should be")
            yield


def _lists_in(column: _ThriftCursor) -> Iterator[tuple[int, int]]:
    for number, kind in column.fields():
        if number != _ENCODINGS or kind != _LIST:
            column.skip(kind)
            continue
        count, each = column.elements()
        start = column.at
        for _ in range(count):
            column.skip_element(each)
        # As many bytes as encodings: none of them takes two.
        if column.at - start == count:
            yield start, column.at


def _signed(zigzag: int) -> int:
    return (zigzag >> 1) ^ -(zigzag & 1)


_CHUNK: Final = 8 * 1024 * 1024
FileDigest = tuple[str, int, bytes]
"""Hex BLAKE3, size, and the footer's bytes; no bytes when the file does not end as Parquet does."""


@dataclass(frozen=True)
class LocalHasher:
    """Examines files below a folder. `threads` is how many may work on one file."""

    folder: str
    threads: int = 1

    def __call__(self, path: str) -> FileDigest:
        file = Path(self.folder, path)
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(size - 8, 0))
            start, length = footer_span(size, opened.read(8))
            opened.seek(start)
            footer = opened.read(length)
        ordered = order_encodings(footer)
        if ordered != footer:
            with file.open("r+b") as opened:
                opened.seek(start)
                opened.write(ordered)
        digest = blake3(max_threads=self.threads).update_mmap(file).hexdigest()
        return digest, size, ordered


@dataclass(frozen=True)
class ObjectHasher:
    """Examines objects of a bucket below a prefix, streaming each once.

    `settings` are obstore's, with credentials: an executor may have none of its own.
    """

    bucket: str
    prefix: str
    settings: Mapping[str, str] = field(repr=False)

    def __call__(self, path: str) -> FileDigest:
        store = S3Store(self.bucket, prefix=self.prefix, config=dict(self.settings))  # type: ignore[arg-type]  # a TypedDict by any other name
        size = obstore.head(store, path)["size"]
        tail = _range(store, path, max(size - 8, 0), min(size, 8))
        start, length = footer_span(size, tail)
        footer = _range(store, path, start, length)
        ordered = order_encodings(footer)
        hasher = blake3()
        if ordered == footer:
            for chunk in obstore.get(store, path).stream(min_chunk_size=_CHUNK):
                hasher.update(bytes(chunk))
        else:
            # An object cannot be changed in part: it is put again, as it passes by.
            with obstore.open_writer(store, path) as opened:
                for piece in _pieces(store, path, start):
                    hasher.update(piece)
                    opened.write(piece)
                hasher.update(ordered + tail)
                opened.write(ordered + tail)
        return hasher.hexdigest(), size, ordered


def _pieces(store: S3Store, path: str, end: int) -> Iterator[bytes]:
    """An object's bytes up to a place."""
    for start in range(0, end, _CHUNK):
        yield _range(store, path, start, min(_CHUNK, end - start))


def _range(store: S3Store, path: str, start: int, length: int) -> bytes:
    return bytes(obstore.get_range(store, path, start=start, length=length)) if length else b""


def footer_span(size: int, tail: bytes) -> tuple[int, int]:
    """Where the footer is and how long, said by the last eight bytes; (0, 0) when nowhere."""
    if len(tail) != 8 or tail[4:] != b"PAR1":
        return 0, 0
    length = int(struct.unpack("<I", tail[:4])[0])
    start = size - 8 - length
    return (start, length) if start >= 4 else (0, 0)
