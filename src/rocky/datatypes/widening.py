"""Widening: whether a column may change its type and lose nothing.

These are Delta's rules for changing a stored column, which are narrower than what Spark casts
unasked: a bigint does not widen to a double, and a date does not widen to a timestamp, whose
value would depend on the session's time zone.
"""

from typing import Final

from rocky.datatypes.decimals import decimal_for, is_wider_decimal
from rocky.datatypes.types import (
    DAY_TIME_UNITS,
    INTEGRAL_KINDS,
    NULL,
    STRING_KINDS,
    UNKNOWN,
    YEAR_MONTH_UNITS,
    ArrayType,
    DataType,
    DecimalType,
    IntervalType,
    MapType,
    StringType,
    StructType,
    TimeType,
)

_WIDER_KINDS: Final[dict[str, frozenset[str]]] = {
    "tinyint": frozenset({"smallint", "int", "bigint", "double"}),
    "smallint": frozenset({"int", "bigint", "double"}),
    "int": frozenset({"bigint", "double"}),
    "float": frozenset({"double"}),
    "date": frozenset({"timestamp_ntz"}),
}


def is_lossless(source: DataType, target: DataType) -> bool:
    """Whether every value of `source`, nulls in its parts included, is one of `target`."""
    if source is target or source is NULL or source is UNKNOWN or target is UNKNOWN:
        return True
    match source, target:
        case StringType(), StringType():
            return _is_longer(source, target)
        case (DecimalType(), DecimalType()):
            return is_wider_decimal(target, source)
        case (DataType(), DecimalType()):
            return source.kind in INTEGRAL_KINDS and is_wider_decimal(target, decimal_for(source))
        case TimeType(), TimeType():
            return source.precision <= target.precision
        case IntervalType(), IntervalType():
            return _is_wider_interval(source, target)
        case _:
            return _is_lossless_nested(source, target)


def _is_longer(source: StringType, target: StringType) -> bool:
    if source.collation != target.collation or target.kind == "char":
        return False
    if target.length is None:
        return source.kind in STRING_KINDS
    # CHAR pads to its length, so it may move to a VARCHAR but not the other way.
    return source.length is not None and source.length <= target.length


def _is_wider_interval(source: IntervalType, target: IntervalType) -> bool:
    if source.kind != target.kind:
        return False
    units = YEAR_MONTH_UNITS if source.kind == "interval_ym" else DAY_TIME_UNITS
    return units.index(target.first) <= units.index(source.first) and units.index(
        source.last
    ) <= units.index(target.last)


def _is_lossless_nested(source: DataType, target: DataType) -> bool:
    match source, target:
        case ArrayType(), ArrayType():
            return is_lossless(source.element, target.element) and (
                target.contains_null or not source.contains_null
            )
        case MapType(), MapType():
            return (
                is_lossless(source.key, target.key)
                and is_lossless(source.value, target.value)
                and (target.contains_null or not source.contains_null)
            )
        case StructType(), StructType():
            return _is_lossless_struct(source, target)
        case _:
            return target.kind in _WIDER_KINDS.get(source.kind, frozenset())


def _is_lossless_struct(source: StructType, target: StructType) -> bool:
    return len(source.fields) == len(target.fields) and all(
        old.name.lower() == new.name.lower()
        and is_lossless(old.type, new.type)
        and (new.nullable or not old.nullable)
        for old, new in zip(source.fields, target.fields, strict=True)
    )
