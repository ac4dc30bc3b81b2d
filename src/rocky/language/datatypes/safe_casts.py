"""Safe casts: three answers to whether a value keeps its meaning in another type.

Lossless widening follows Delta's rules for changing a stored column and is the narrowest: a bigint
does not widen to a double. Up-casts are Spark's word for safe, not ours: a bigint up-casts to a
float. Store assignment is what Spark casts when a value is written to a column.
"""

from collections.abc import Callable
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType

_WIDER_KINDS: Final[dict[str, frozenset[str]]] = {
    "tinyint": frozenset({"smallint", "int", "bigint", "double"}),
    "smallint": frozenset({"int", "bigint", "double"}),
    "int": frozenset({"bigint", "double"}),
    "float": frozenset({"double"}),
    "date": frozenset({"timestamp_ntz"}),
}


def is_lossless(source: DataType, target: DataType) -> bool:
    """Whether every value of `source`, nulls in its parts included, is one of `target`."""
    if source is target or source is t.NULL or source is t.UNKNOWN or target is t.UNKNOWN:
        return True
    match source, target:
        case t.StringType(), t.StringType():
            return _is_longer(source, target)
        case (t.DecimalType(), t.DecimalType()):
            return t.is_wider_decimal(target, source)
        case (DataType(), t.DecimalType()):
            return source.kind in t.INTEGRAL_KINDS and t.is_wider_decimal(
                target, t.decimal_for(source)
            )
        case t.TimeType(), t.TimeType():
            return source.precision <= target.precision
        case t.IntervalType(), t.IntervalType():
            return _is_wider_interval(source, target)
        case _:
            return _is_lossless_nested(source, target)


def _is_longer(source: t.StringType, target: t.StringType) -> bool:
    if source.collation != target.collation or target.kind == "char":
        return False
    if target.length is None:
        return source.kind in t.STRING_KINDS
    # CHAR pads to its length, so it may move to a VARCHAR but not the other way.
    return source.length is not None and source.length <= target.length


def _is_wider_interval(source: t.IntervalType, target: t.IntervalType) -> bool:
    if source.kind != target.kind:
        return False
    units = t.YEAR_MONTH_UNITS if source.kind == "interval_ym" else t.DAY_TIME_UNITS
    return units.index(target.first) <= units.index(source.first) and units.index(
        source.last
    ) <= units.index(target.last)


def _is_lossless_nested(source: DataType, target: DataType) -> bool:
    match source, target:
        case t.ArrayType(), t.ArrayType():
            return is_lossless(source.element, target.element) and (
                target.contains_null or not source.contains_null
            )
        case t.MapType(), t.MapType():
            return (
                is_lossless(source.key, target.key)
                and is_lossless(source.value, target.value)
                and (target.contains_null or not source.contains_null)
            )
        case t.StructType(), t.StructType():
            return _is_lossless_struct(source, target)
        case _:
            return target.kind in _WIDER_KINDS.get(source.kind, frozenset())


def _is_lossless_struct(source: t.StructType, target: t.StructType) -> bool:
    return len(source.fields) == len(target.fields) and all(
        old.name.lower() == new.name.lower()
        and is_lossless(old.type, new.type)
        and (new.nullable or not old.nullable)
        for old, new in zip(source.fields, target.fields, strict=True)
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
    if source is target or source is t.NULL or source is t.UNKNOWN or target is t.UNKNOWN:
        return True
    if source.kind in _COMPLEX_KINDS or target.kind in _COMPLEX_KINDS:
        return _complex_by(source, target, can_up_cast)
    if target.kind in t.STRING_KINDS:
        return source.kind != "variant"
    if source.kind in t.NUMERIC_KINDS and target.kind in t.NUMERIC_KINDS:
        return _up_cast_number(source, target)
    if source.kind in {"interval_ym", "interval_dt"}:
        return source.kind == target.kind
    return (source.kind, target.kind) in _SAFE_PAIRS


def _up_cast_number(source: DataType, target: DataType) -> bool:
    if isinstance(target, t.DecimalType):
        if isinstance(source, t.DecimalType) or source.kind in t.INTEGRAL_KINDS:
            return t.is_wider_decimal(target, t.decimal_for(source))
        return False
    if isinstance(source, t.DecimalType):
        # Strictly fewer digits: ten digits do not all fit an int.
        return (
            target.kind in t.INTEGRAL_KINDS
            and source.scale == 0
            and source.precision < t.INTEGRAL_DIGITS[target.kind]
        )
    return _NUMBER_ORDER.index(source.kind) <= _NUMBER_ORDER.index(target.kind)


def store_assignable(source: DataType, target: DataType) -> bool:
    """Whether Spark writes a value of `source` into a column of `target` (ANSI assignment)."""
    if source is target or source is t.NULL or source is t.UNKNOWN or target is t.UNKNOWN:
        return True
    if source.kind in _COMPLEX_KINDS or target.kind in _COMPLEX_KINDS:
        return _complex_by(source, target, store_assignable)
    if target.kind in t.STRING_KINDS:
        return True
    if source.kind in t.NUMERIC_KINDS:
        return target.kind in t.NUMERIC_KINDS
    return source.kind in _MOMENTS and target.kind in _MOMENTS


def _complex_by(
    source: DataType, target: DataType, allowed: Callable[[DataType, DataType], bool]
) -> bool:
    """The same question asked of the parts, which must also find room for their nulls."""
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        return allowed(source.element, target.element) and (
            target.contains_null or not source.contains_null
        )
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        return (
            allowed(source.key, target.key)
            and allowed(source.value, target.value)
            and (target.contains_null or not source.contains_null)
        )
    if isinstance(source, t.StructType) and isinstance(target, t.StructType):
        return len(source.fields) == len(target.fields) and all(
            allowed(a.type, b.type) and (b.nullable or not a.nullable)
            for a, b in zip(source.fields, target.fields, strict=True)
        )
    return False
