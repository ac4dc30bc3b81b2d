"""Canonical order: rows in files by rules that depend on the rows alone.

Rows are spread over a fixed number of files by their own hash and sorted by all columns, so cores,
adaptive execution and shuffle settings leave no trace in the bytes. The hash, not the columns,
is what rows are spread by: Spark drops a repartition by columns that a grouping spread already.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql import functions as f

from rocky.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.spark.rows_hash import hash_inputs


def in_canonical_order(
    frame: Any, fields: Sequence[StructField], pieces: int, first: Sequence[str] = ()
) -> Any:
    """The frame's rows, spread over `pieces` and sorted by the columns `first`, then by all."""
    keys = [f.col(name) for name in first]
    keys += [key for field in fields for key in _sort_keys(_column(field), field.type)]
    if pieces > 1:
        frame = frame.repartition(pieces, f.xxhash64(*hash_inputs(fields)))
    else:
        frame = frame.repartition(1)
    return frame.sortWithinPartitions(*keys)


def _sort_keys(column: Any, kind: DataType) -> list[Any]:
    """Keys under which two values are equal only if their bytes are."""
    if kind.kind == "void":
        return []
    if kind.kind in ("float", "double"):
        # Zero and minus zero are equal to Spark; only for zeros is the text looked at.
        return [column, f.when(column == 0, column.cast("string"))]
    if isinstance(kind, StringType) and kind.collation != "UTF8_BINARY":
        return [column.cast("binary")]
    if _is_plain(kind):
        return [column]
    # Maps and variants have no order, and floats inside a value hide their zeros: the text has.
    return [f.to_json(f.struct(column.alias("value")))]


def _is_plain(kind: DataType) -> bool:
    match kind:
        case ArrayType(element=element):
            return _is_plain(element)
        case StructType(fields=fields):
            return all(_is_plain(field.type) for field in fields)
        case MapType():
            return False
        case StringType(collation=collation):
            return collation == "UTF8_BINARY"
        case _:
            return kind.kind not in ("float", "double", "variant", "void")


def _column(field: StructField) -> Any:
    return f.col(f"`{field.name.replace('`', '``')}`")
