"""Assignment: casts Spark trusts, and casts it makes when a value is written to a column.

Up-casts are Spark's word for safe, not ours: a bigint up-casts to a float, and a timestamp to a
bigint. What loses nothing at all is the business of `rocky.datatypes.widening`.
"""

from collections.abc import Callable
from typing import Final

from rocky.datatypes.decimals import INTEGRAL_DIGITS, decimal_for, is_wider_decimal
from rocky.datatypes.types import (
    INTEGRAL_KINDS,
    NULL,
    NUMERIC_KINDS,
    STRING_KINDS,
    UNKNOWN,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StructType,
)

_COMPLEX_KINDS: Final = frozenset({"array", "map", "struct"})
_MOMENTS: Final = frozenset({"date", "time", "timestamp", "timestamp_ntz"})
_NUMBER_ORDER: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")
_SAFE_PAIRS: Final = frozenset(
    {
        ("date", "timestamp"),
        ("date", "timestamp_ntz"),
        ("timestamp", "timestamp_ntz"),
        ("timestamp_ntz", "timestamp"),
        ("timestamp", "bigint"),
        ("bigint", "timestamp"),
    }
)


def can_up_cast(source: DataType, target: DataType) -> bool:
    """Whether a cast can neither fail nor truncate, in Spark's reckoning."""
    if source is target or source is NULL or source is UNKNOWN or target is UNKNOWN:
        return True
    if source.kind in _COMPLEX_KINDS or target.kind in _COMPLEX_KINDS:
        return _complex_by(source, target, can_up_cast)
    if target.kind in STRING_KINDS:
        return source.kind != "variant"
    if source.kind in NUMERIC_KINDS and target.kind in NUMERIC_KINDS:
        return _up_cast_number(source, target)
    if source.kind in {"interval_ym", "interval_dt"}:
        return source.kind == target.kind
    return (source.kind, target.kind) in _SAFE_PAIRS


def _up_cast_number(source: DataType, target: DataType) -> bool:
    if isinstance(target, DecimalType):
        if isinstance(source, DecimalType) or source.kind in INTEGRAL_KINDS:
            return is_wider_decimal(target, decimal_for(source))
        return False
    if isinstance(source, DecimalType):
        # Strictly fewer digits: ten digits do not all fit an int.
        return (
            target.kind in INTEGRAL_KINDS
            and source.scale == 0
            and source.precision < INTEGRAL_DIGITS[target.kind]
        )
    return _NUMBER_ORDER.index(source.kind) <= _NUMBER_ORDER.index(target.kind)


def store_assignable(source: DataType, target: DataType) -> bool:
    """Whether Spark writes a value of `source` into a column of `target` (ANSI assignment)."""
    if source is target or source is NULL or source is UNKNOWN or target is UNKNOWN:
        return True
    if source.kind in _COMPLEX_KINDS or target.kind in _COMPLEX_KINDS:
        return _complex_by(source, target, store_assignable)
    if target.kind in STRING_KINDS:
        return True
    if source.kind in NUMERIC_KINDS:
        return target.kind in NUMERIC_KINDS
    return source.kind in _MOMENTS and target.kind in _MOMENTS


def _complex_by(
    source: DataType, target: DataType, allowed: Callable[[DataType, DataType], bool]
) -> bool:
    """The same question asked of the parts, which must also find room for their nulls."""
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return allowed(source.element, target.element) and (
            target.contains_null or not source.contains_null
        )
    if isinstance(source, MapType) and isinstance(target, MapType):
        return (
            allowed(source.key, target.key)
            and allowed(source.value, target.value)
            and (target.contains_null or not source.contains_null)
        )
    if isinstance(source, StructType) and isinstance(target, StructType):
        return len(source.fields) == len(target.fields) and all(
            allowed(a.type, b.type) and (b.nullable or not a.nullable)
            for a, b in zip(source.fields, target.fields, strict=True)
        )
    return False
