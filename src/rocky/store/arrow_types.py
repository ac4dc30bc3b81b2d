"""Arrow's types for Spark's, as Spark stores them in Parquet.

Intervals are stored as plain numbers (microseconds, or months), CHAR and VARCHAR as strings, and a
variant as a struct of two binaries: a reader without Spark sees these.
"""

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from rocky.datatypes.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StructField,
    StructType,
)
from rocky.errors import StoreUnreadable

_ATOMS: Final[dict[str, Any]] = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "interval_dt": pa.int64(),
    "interval_ym": pa.int32(),
    "variant": pa.struct(
        [pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())]
    ),
}


def arrow_schema(fields: Sequence[StructField]) -> Any:
    """The Arrow schema of a table's columns."""
    return pa.schema([_field(field) for field in fields])


def arrow_type(type: DataType) -> Any:  # noqa: A002 - the noun of `datatypes`
    """The Arrow type that a column of this type is stored as."""
    if isinstance(type, DecimalType):
        return pa.decimal128(type.precision, type.scale)
    if isinstance(type, StructType):
        return pa.struct([_field(field) for field in type.fields])
    if isinstance(type, ArrayType):
        return pa.list_(pa.field("element", arrow_type(type.element), type.contains_null))
    if isinstance(type, MapType):
        value = pa.field("value", arrow_type(type.value), type.contains_null)
        return pa.map_(arrow_type(type.key), value)
    atom = _ATOMS.get(type.kind)
    if atom is None:
        raise StoreUnreadable(f"a column of type `{type}` cannot be read without Spark")
    return atom


def _field(field: StructField) -> Any:
    return pa.field(field.name, arrow_type(field.type), field.nullable)
