"""Decimals: the precision and scale of what holds, joins or computes with fixed-point numbers.

Two cuts to 38 digits exist and differ: a common type (`wider_decimal`) keeps the whole part and
drops fraction digits, an operation (`decimal_result`) always keeps up to six fraction digits.
"""

from typing import Final

from rocky.datatypes.types import MAX_PRECISION, DataType, DecimalType, decimal

INTEGRAL_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_MIN_ADJUSTED_SCALE: Final = 6


def decimal_for(given: DataType) -> DecimalType:
    """The decimal that holds every value of a number type (floats get Spark's approximation)."""
    if isinstance(given, DecimalType):
        return given
    if given.kind == "float":
        return decimal(14, 7)
    if given.kind == "double":
        return decimal(30, 15)
    return decimal(INTEGRAL_DIGITS[given.kind], 0)


def is_wider_decimal(wide: DecimalType, narrow: DecimalType) -> bool:
    """Whether `wide` has room for every value of `narrow`, digits and fraction."""
    return (
        wide.precision - wide.scale >= narrow.precision - narrow.scale
        and wide.scale >= narrow.scale
    )


def wider_decimal(a: DecimalType, b: DecimalType) -> DecimalType:
    """The decimal with room for both; past 38 digits the fraction gives way."""
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    return decimal(MAX_PRECISION, max(0, scale - (precision - MAX_PRECISION)))


def decimal_result(op: str, left: DecimalType, right: DecimalType) -> DecimalType:
    """The decimal of an operation on two decimals, cut to 38 digits as Spark cuts it."""
    p1, s1, p2, s2 = left.precision, left.scale, right.precision, right.scale
    if op in {"+", "-"}:
        scale = max(s1, s2)
        return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if op == "*":
        return _adjusted(p1 + p2 + 1, s1 + s2)
    if op == "/":
        scale = max(_MIN_ADJUSTED_SCALE, s1 + p2 + 1)
        return _adjusted(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return _adjusted(min(p1 - s1, p2 - s2) + scale, scale)


def _adjusted(precision: int, scale: int) -> DecimalType:
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, _MIN_ADJUSTED_SCALE)))
