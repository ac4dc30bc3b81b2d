"""Encodings: the one part of a Parquet footer whose order Java leaves to chance.

A footer lists the encodings of each column's pages. Java's writer keeps them in a hash set whose
order is that of addresses in memory, so the same rows written by another process have other bytes;
Spark offers nothing to pin it. Readers do not care for the order, so it is made ascending before a
file is named by its bytes. No byte moves: an encoding is one byte, and only their order changes.
"""

from collections.abc import Iterator
from typing import Final

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
        spans = list(_encoding_lists(_Reading(footer)))
    except (IndexError, _NotThrift):
        return footer
    ordered = bytearray(footer)
    for start, end in spans:
        ordered[start:end] = sorted(footer[start:end])
    return bytes(ordered)


class _NotThrift(ValueError):
    """Bytes that are no compact Thrift."""


class _Reading:
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


def _encoding_lists(footer: _Reading) -> Iterator[tuple[int, int]]:
    """Where the lists of encodings are."""
    for _ in _structs_in(footer, _ROW_GROUPS):
        for _ in _structs_in(footer, _COLUMNS):
            for number, kind in footer.fields():
                if number == _META_DATA and kind == _STRUCT:
                    yield from _lists_in(footer)
                else:
                    footer.skip(kind)


def _structs_in(struct: _Reading, wanted: int) -> Iterator[None]:
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


def _lists_in(column: _Reading) -> Iterator[tuple[int, int]]:
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
