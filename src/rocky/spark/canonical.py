"""Canonical order: rows in files by rules that depend on the rows alone.

Rows are spread over a fixed number of files by their own hash and sorted by all columns, so cores,
adaptive execution and shuffle settings leave no trace in the bytes. The hash, not the columns,
is what rows are spread by: Spark drops a repartition by columns that a grouping spread already.
"""

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import functions as f

from rocky.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.spark.names import column_named
from rocky.spark.row_parts import LANES, row_hash

_UNORDERED: Final = ("variant", "void")


def spread_rows(
    frame: Any, fields: Sequence[StructField], pieces: int, partitions: Sequence[str] = ()
) -> Any:
    """The frame's rows, spread over `pieces` by their hash.

    With partition columns these alone decide: else every piece would hold a file of each partition.
    """
    by = [field for field in fields if field.name in partitions] or fields
    return frame.repartition(pieces, _spread(by)) if pieces > 1 else frame.repartition(1)


def _spread(fields: Sequence[StructField]) -> Any:
    """What decides on a row's piece: rows that differ may meet, so plain columns are enough."""
    plain = [column_named(field.name) for field in fields if _is_plain(field.type)]
    return f.xxhash64(*plain) if plain else row_hash(fields)


def sort_rows(frame: Any, fields: Sequence[StructField], first: Sequence[str] = ()) -> Any:
    """The rows of each piece sorted by the columns `first`, then so that only equal rows tie."""
    keys = [column_named(name) for name in first]
    keys += [_sort_key(field) for field in fields if _is_ordered(field.type)]
    if not all(_is_exact(field.type) for field in fields):
        # Zeros of either sign, maps in any order: values that differ and do not sort apart.
        keys += [row_hash(fields, lane, maps_in_order=True) for lane in LANES]
    return frame.sortWithinPartitions(*keys)


def _is_plain(kind: DataType) -> bool:
    return not isinstance(kind, ArrayType | MapType | StructType) and kind.kind not in _UNORDERED


def _sort_key(field: StructField) -> Any:
    column = column_named(field.name)
    if isinstance(field.type, StringType) and field.type.collation != "UTF8_BINARY":
        return column.cast("binary")
    return column


def _is_ordered(kind: DataType) -> bool:
    """Whether Spark can sort by a type at all."""
    match kind:
        case ArrayType(element=element):
            return _is_ordered(element)
        case StructType(fields=fields):
            return all(_is_ordered(field.type) for field in fields)
        case MapType():
            return False
        case _:
            return kind.kind not in _UNORDERED


def _is_exact(kind: DataType) -> bool:
    """Whether two values that sort as equal have equal bytes."""
    match kind:
        case ArrayType(element=element):
            return _is_exact(element) and not _is_collated(element)
        case StructType(fields=fields):
            return all(_is_exact(field.type) and not _is_collated(field.type) for field in fields)
        case MapType():
            return False
        case _:
            return kind.kind not in ("float", "double", "variant")


def _is_collated(kind: DataType) -> bool:
    return isinstance(kind, StringType) and kind.collation != "UTF8_BINARY"
