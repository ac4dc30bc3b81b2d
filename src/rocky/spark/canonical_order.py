"""Canonical order: what decides on a row's piece and on its place there.

Rows are spread over a fixed number of files by their own hash and sorted by all columns, so cores,
adaptive execution and shuffle settings leave no trace in the bytes. The hash, not the columns, is
what rows are spread by: Spark drops a repartition by columns that a grouping spread already.

An expression is a text of SQL wherever one says it, which costs no question to Spark's process; it
is a column of Spark's where only that can.
"""

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import functions as f

from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.language.names import quote_name
from rocky.spark.frame import column_named
from rocky.spark.rows_hash import LANES, hash_expression

Expression = Any
"""A text of SQL, or a column."""

_UNORDERED: Final = ("variant", "void")


def as_column(expression: Expression) -> Any:
    """An expression as Spark's own."""
    return f.expr(expression) if isinstance(expression, str) else expression


def reference(name: str) -> Expression:
    """The column of exactly this name."""
    # What looks like a variable in SQL may be replaced by one.
    return column_named(name) if "${" in name else quote_name(name)


def spread_key(fields: Sequence[StructField], partitions: Sequence[str] = ()) -> Expression:
    """What decides on a row's piece: rows that differ may meet, so plain columns are enough.

    With partition columns these alone decide: else every piece would hold a file of each partition.
    """
    by = [field for field in fields if field.name in partitions] or fields
    plain = [reference(field.name) for field in by if _is_plain(field.type)]
    if not plain:
        return hash_expression(by)
    if all(isinstance(each, str) for each in plain):
        return f"xxhash64({', '.join(plain)})"
    return f.xxhash64(*map(as_column, plain))


def order_keys(fields: Sequence[StructField], first: Sequence[str] = ()) -> list[Expression]:
    """What the rows of a piece are sorted by: the columns `first`, then so that equal rows tie."""
    keys = [reference(name) for name in first]
    keys += [_sort_key(field) for field in fields if not holds_kind(field.type, "map", *_UNORDERED)]
    if not all(_is_exact(field.type) for field in fields):
        # Zeros of either sign, maps in any order: values that differ and do not sort apart.
        keys += [hash_expression(fields, lane, maps_in_order=True) for lane in LANES]
    return keys


def _is_plain(kind: DataType) -> bool:
    return not isinstance(kind, ArrayType | MapType | StructType) and kind.kind not in _UNORDERED


def _sort_key(field: StructField) -> Expression:
    column = reference(field.name)
    if isinstance(field.type, StringType) and field.type.collation != "UTF8_BINARY":
        return f"CAST({column} AS BINARY)" if isinstance(column, str) else column.cast("binary")
    return column


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
