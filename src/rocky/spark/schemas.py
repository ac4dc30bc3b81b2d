"""Schemas between Rocky and Spark, for classic and Connect alike: plain Python on both sides.

Spark has no CHAR or VARCHAR inside a DataFrame: such a column is a string there, with its type in
the column's metadata. Whatever is stored is read as nullable, through and through: the NOT NULL of
a table is Rocky's to keep.
"""

from collections.abc import Sequence
from typing import Any, Final

from pyspark.sql import types as s

from rocky.datatypes.text import TypeSyntaxError, parse_type, type_to_json
from rocky.datatypes.types import (
    UNKNOWN,
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    array,
    map_of,
    string,
    struct,
)

_CHAR_MARK: Final = "__CHAR_VARCHAR_TYPE_STRING"


def spark_schema(fields: Sequence[StructField]) -> Any:
    """The fields as Spark's own schema."""
    return s.StructType([_spark_field(field, loose=False) for field in fields])


def readable_schema(fields: Sequence[StructField]) -> Any:
    """The fields as Spark reads them from files: everything may be null."""
    return s.StructType([_spark_field(field, loose=True) for field in fields])


def spark_type(kind: DataType) -> Any:
    """A type as Spark's own, without the lengths of strings."""
    return _spark_type(kind, loose=False)


def fields_of(frame: Any) -> tuple[StructField, ...]:
    """The columns of a DataFrame."""
    return tuple(map(_field, frame.schema.fields))


def _spark_field(field: StructField, *, loose: bool) -> Any:
    kind = _spark_type(field.type, loose=loose)
    metadata = {_CHAR_MARK: field.type.text} if _is_sized(field.type) else None
    return s.StructField(field.name, kind, loose or field.nullable, metadata)


def _spark_type(kind: DataType, *, loose: bool) -> Any:
    match kind:
        case ArrayType():
            return s.ArrayType(_spark_type(kind.element, loose=loose), loose or kind.contains_null)
        case MapType():
            key, value = _spark_type(kind.key, loose=loose), _spark_type(kind.value, loose=loose)
            return s.MapType(key, value, loose or kind.contains_null)
        case StructType():
            return s.StructType([_spark_field(field, loose=loose) for field in kind.fields])
        case StringType():
            return s.StringType(kind.collation)
        case _:
            field = {"name": "x", "type": type_to_json(kind), "nullable": True, "metadata": {}}
            return s.StructType.fromJson({"type": "struct", "fields": [field]})[0].dataType


def _is_sized(kind: DataType) -> bool:
    """Whether a CHAR or VARCHAR is in a type; fields of a struct carry their own mark."""
    match kind:
        case ArrayType():
            return _is_sized(kind.element)
        case MapType():
            return _is_sized(kind.key) or _is_sized(kind.value)
        case _:
            return kind.kind in ("char", "varchar")


def _field(field: Any) -> StructField:
    mark = (field.metadata or {}).get(_CHAR_MARK)
    kind = parse_type(mark) if mark else _type(field.dataType)
    return StructField(field.name, kind, field.nullable)


def _type(kind: Any) -> DataType:
    match kind:
        case s.ArrayType():
            return array(_type(kind.elementType), kind.containsNull)
        case s.MapType():
            return map_of(_type(kind.keyType), _type(kind.valueType), kind.valueContainsNull)
        case s.StructType():
            return struct(tuple(map(_field, kind.fields)))
        case s.StringType():
            return string(kind.collation)
        case _:
            try:
                return parse_type(kind.simpleString())
            except TypeSyntaxError:
                # A user's own type, or one Rocky has no word for yet.
                return UNKNOWN
