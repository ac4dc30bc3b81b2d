"""Nulls that footers cannot tell of: below an array, a map or a nullable struct.

A check is part of the query that writes, so nothing is committed when it fails. Where Spark itself
knows that there is no null, there is no check and no cost.
"""

from typing import Any

from pyspark.sql import functions as f

from rocky.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.spark.names import column_named

_NESTED = (ArrayType, MapType, StructType)


def checked_column(field: StructField, given: StructField) -> Any:
    """The column; a null in it that its type does not allow, and no footer counts, stops the query.

    `given` is the column as Spark knows it.
    """
    column = column_named(field.name)
    broken = _breaks(column, field.type, given.type)
    if isinstance(field.type, _NESTED) and given.nullable and not field.nullable:
        broken = _either(column.isNull(), broken)
    if broken is None:
        return column
    message = f"column `{field.name}` holds a null where its type allows none"
    return f.when(broken, f.raise_error(f.lit(message))).otherwise(column)


def _breaks(column: Any, wanted: DataType, given: DataType) -> Any | None:
    """Whether a value holds a null that its type does not allow; None when it cannot."""
    match wanted, given:
        case ArrayType(), ArrayType():
            may_hold = given.contains_null and not wanted.contains_null
            return _any_breaks(column, wanted.element, given.element, may_hold=may_hold)
        case MapType(), MapType():
            values = f.map_values(column)
            may_hold = given.contains_null and not wanted.contains_null
            in_values = _any_breaks(values, wanted.value, given.value, may_hold=may_hold)
            keys = _any_breaks(f.map_keys(column), wanted.key, given.key, may_hold=False)
            return keys if in_values is None else _either(in_values, keys)
        case StructType(), StructType():
            found = None
            for ours, theirs in zip(wanted.fields, given.fields, strict=True):
                member = column.getField(theirs.name)
                inner = _breaks(member, ours.type, theirs.type)
                if theirs.nullable and not ours.nullable:
                    inner = _either(member.isNull(), inner)
                if inner is not None:
                    found = _either(inner, found)
            return None if found is None else column.isNotNull() & found
        case _:
            return None


def _any_breaks(values: Any, wanted: DataType, given: DataType, *, may_hold: bool) -> Any | None:
    if not may_hold and _breaks(values, wanted, given) is None:
        return None

    def breaks(one: Any) -> Any:
        inner = _breaks(one, wanted, given)
        return _either(one.isNull(), inner) if may_hold else inner

    return f.coalesce(f.exists(values, breaks), f.lit(False))


def _either(one: Any, other: Any | None) -> Any:
    return one if other is None else one | other
