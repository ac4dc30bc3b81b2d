"""Frames: columns by name, schemas to and from Spark, literal rows in and a few rows out.

The same for classic and Connect. Spark has no CHAR or VARCHAR inside a DataFrame: such a column is
a string there, with its type in the column's metadata. Whatever is stored is read as nullable,
through and through: the NOT NULL of a table is Rocky's to keep.

Literal rows are seeds and the fixtures of unit tests. Values travel as texts in the shape of their
column, and Spark casts them to the column's type under ANSI rules: a date is written "2026-05-30"
and a decimal "12.50", and what does not fit is refused, not made null. The rows are sent to Spark,
so it need not see the client's files.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql import types as s

from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.text import TypeSyntaxError, parse_type, type_to_json
from rocky.language.datatypes.types import (
    DAY_TIME_UNITS,
    INTEGRAL_KINDS,
    STRING,
    UNKNOWN,
    ArrayType,
    DataType,
    IntervalType,
    MapType,
    StringType,
    StructField,
    StructType,
    array,
    map_of,
    string,
    struct,
)
from rocky.language.names import quote_name
from rocky.spark.failures import SPARK_ERRORS


def column_named(name: str) -> Any:
    """The column of exactly this name."""
    return f.col(quote_name(name))


_CHAR_MARK: Final = "__CHAR_VARCHAR_TYPE_STRING"


def readable_schema(fields: Sequence[StructField]) -> Any:
    """The fields as Spark reads them from files: everything may be null."""
    return s.StructType([_spark_field(field) for field in fields])


def fields_of(frame: Any) -> tuple[StructField, ...]:
    """The columns of a DataFrame."""
    return tuple(map(_rocky_field, frame.schema.fields))


def _spark_field(field: StructField) -> Any:
    kind = _spark_type(field.type)
    metadata = {_CHAR_MARK: field.type.text} if _is_sized(field.type) else None
    return s.StructField(field.name, kind, metadata=metadata)


def _spark_type(kind: DataType) -> Any:
    match kind:
        case ArrayType():
            return s.ArrayType(_spark_type(kind.element))
        case MapType():
            key, value = _spark_type(kind.key), _spark_type(kind.value)
            return s.MapType(key, value)
        case StructType():
            return s.StructType([_spark_field(field) for field in kind.fields])
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


def _rocky_field(field: Any) -> StructField:
    mark = (field.metadata or {}).get(_CHAR_MARK)
    kind = parse_type(mark) if mark else _rocky_type(field.dataType)
    return StructField(field.name, kind, field.nullable)


def _rocky_type(kind: Any) -> DataType:
    match kind:
        case s.ArrayType():
            return array(_rocky_type(kind.elementType), kind.containsNull)
        case s.MapType():
            return map_of(
                _rocky_type(kind.keyType), _rocky_type(kind.valueType), kind.valueContainsNull
            )
        case s.StructType():
            return struct(tuple(map(_rocky_field, kind.fields)))
        case s.StringType():
            return string(kind.collation)
        case _:
            try:
                return parse_type(kind.simpleString())
            except TypeSyntaxError:
                # A user's own type, or one Rocky has no word for yet.
                return UNKNOWN


def take_rows(frame: Any, limit: int) -> list[tuple[Any, ...]]:
    """The first rows of a frame, as tuples."""
    return [tuple(row) for row in frame.limit(limit).collect()]


_NO_ARROW: Final = ("interval_ym", "interval", "variant", "unknown")
"""Kinds that Spark does not hand over as Arrow, or not as something to read."""


def take_table(frame: Any, limit: int) -> Any:
    """The first rows of a frame as an Arrow table, its columns called by their places."""
    names = [f"c{place}" for place in range(len(frame.columns))]
    # By place: two columns may have one name.
    renamed = frame.toDF(*names).limit(limit)
    shown = [
        column_named(name).cast("string")
        if holds_kind(field.type, *_NO_ARROW)
        else column_named(name)
        for name, field in zip(names, fields_of(frame), strict=True)
    ]
    return renamed.select(*shown).toArrow()


_FEW_ROWS: Final = 50_000
_AS_THEY_ARE: Final = INTEGRAL_KINDS | {
    "boolean", "float", "double", "decimal", "date", "timestamp", "timestamp_ntz", "binary",
}  # fmt: skip
"""Kinds whose values are the same in Arrow and in the files that Spark writes."""
_TOO_LARGE: Final = "spark.driver.maxResultSize"


def take_few(frame: Any, fields: Sequence[StructField]) -> Any | None:
    """All rows of a frame of these columns as an Arrow table; None when they are not few.

    None also for columns that Arrow does not have as Spark stores them.
    """
    if not all(field.type.kind in _AS_THEY_ARE or field.type is STRING for field in fields):
        return None
    try:
        # In one task, or Spark would hand rows over to count them.
        rows = frame.coalesce(1).limit(_FEW_ROWS + 1).toArrow()
    except SPARK_ERRORS as error:
        if _TOO_LARGE in str(error):
            return None
        raise
    return rows if rows.num_rows <= _FEW_ROWS else None


_MICROSECOND: Final = timedelta(microseconds=1)
_LENGTHS: Final = {
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 10**6,
}
_BEFORE: Final = {"hour": " ", "minute": ":", "second": ":"}


def literal_rows(
    session: Any, fields: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
) -> Any:
    """The rows as a frame of these columns, in their order; absent columns are null."""
    columns = [
        pa.array([_text(row.get(field.name), field.type) for row in rows], _arrow_type(field.type))
        for field in fields
    ]
    # By place: two texts that differ only in case are two names for Arrow, and one for Spark.
    names = [f"c{place}" for place in range(len(fields))]
    if not rows:
        return session.createDataFrame([], readable_schema(fields))
    frame = session.createDataFrame(pa.table(columns, names=names))
    wanted = readable_schema(fields)
    return frame.select(
        *[
            _typed(column_named(name), field, spark.dataType).alias(
                field.name, metadata=spark.metadata
            )
            for name, field, spark in zip(names, fields, wanted.fields, strict=True)
        ]
    )


def _typed(column: Any, field: StructField, wanted: Any) -> Any:
    if field.type.kind == "variant":
        return f.parse_json(column)
    if field.type.kind == "void":
        return f.lit(None)
    return column.cast(wanted)


def _arrow_type(kind: DataType) -> Any:
    """The column's shape with texts at its leaves."""
    match kind:
        case ArrayType(element=element):
            return pa.list_(_arrow_type(element))
        case MapType(key=key, value=value):
            return pa.map_(_arrow_type(key), _arrow_type(value))
        case StructType(fields=fields):
            return pa.struct([pa.field(each.name, _arrow_type(each.type)) for each in fields])
        case _:
            return pa.binary() if kind.kind == "binary" else pa.string()


def _text(value: Any, kind: DataType) -> Any:
    """A value in its column's shape, as text."""
    if value is None:
        return None
    match kind:
        case ArrayType(element=element):
            return [_text(each, element) for each in value]
        case MapType(key=key, value=inner):
            return [(_text(one, key), _text(other, inner)) for one, other in value.items()]
        case StructType(fields=fields):
            return {each.name: _text(value.get(each.name), each.type) for each in fields}
        case _:
            pass
    if kind.kind == "binary":
        return value.encode() if isinstance(value, str) else bytes(value)
    if kind.kind == "variant":
        return json.dumps(value)
    return _leaf(value, kind)


def _leaf(value: Any, kind: DataType) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta() if isinstance(kind, IntervalType):
            return _interval(value, kind)
        case _:
            return str(value)


def _interval(value: timedelta, kind: IntervalType) -> str:
    """A span in the units of its type, as Spark reads it: `1 02:03:04.5`, `02:03`, `7`."""
    microseconds = value // _MICROSECOND
    rest = abs(microseconds)
    units = DAY_TIME_UNITS[DAY_TIME_UNITS.index(kind.first) : DAY_TIME_UNITS.index(kind.last) + 1]
    text = "-" if microseconds < 0 else ""
    for unit in units:
        count, rest = divmod(rest, _LENGTHS[unit])
        # The first unit counts all there is, the others up to the next larger one.
        text += str(count) if unit == units[0] else f"{_BEFORE[unit]}{count:02}"
        if unit == "second" and rest:
            text += f".{rest:06}"
    return text
