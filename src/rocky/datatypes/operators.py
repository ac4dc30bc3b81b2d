"""Operators: how the two sides of a binary operator are brought to one type.

Spark's rules run in a fixed order (strings, then decimals, then the tightest common type), and
each changes what the next one sees: `'1' % 2` is a bigint because the string goes first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rocky.datatypes.casts import force_nullable
from rocky.datatypes.coercion import promote_string, same_type, tightest_type
from rocky.datatypes.decimals import decimal_for
from rocky.datatypes.mismatch import Operand, OperandMismatch, differing, wrong
from rocky.datatypes.types import (
    DOUBLE,
    INTEGRAL_KINDS,
    NULL,
    DataType,
    DecimalType,
    decimal,
)

Accepts = Callable[[DataType], bool]


@dataclass(frozen=True, slots=True)
class Meeting:
    """The types of both sides after Spark's casts; `forced` when a cast may give null."""

    left: DataType
    right: DataType
    forced: bool


def coerce_sides(left: DataType, right: DataType, accepts: Accepts) -> Meeting:
    """Both sides as Spark casts them for an operator; equal only when they meet."""
    promoted = promote_string(left, right)
    if promoted is not None:
        return _cast_both(left, right, promoted)
    if left.kind == "decimal" or right.kind == "decimal":
        return _coerce_decimal(left, right, accepts)
    return _tighten(left, right, accepts)


def check_sides(
    op: str, left: DataType, right: DataType, met: Meeting, accepts: Accepts
) -> Meeting | OperandMismatch:
    """The meeting when the operator takes its type (two decimals may differ), or why not."""
    if not same_type(met.left, met.right):
        both_exact = met.left.kind == "decimal" and met.right.kind == "decimal"
        if not (both_exact and accepts(met.left)):
            return differing(op, left, right)
    if not accepts(met.left):
        return wrong(op, met.left)
    return met


def _cast_both(left: DataType, right: DataType, to: DataType) -> Meeting:
    return Meeting(to, to, force_nullable(left, to) or force_nullable(right, to))


def _coerce_decimal(left: DataType, right: DataType, accepts: Accepts) -> Meeting:
    if left is NULL or right is NULL:
        return _tighten(left, right, accepts)
    new_left, new_right = _beside_decimal(left, right), _beside_decimal(right, left)
    if isinstance(new_left, DecimalType) or isinstance(new_right, DecimalType):
        return Meeting(new_left, new_right, forced=False)
    return _tighten(new_left, new_right, accepts)


def _beside_decimal(given: DataType, other: DataType) -> DataType:
    if given.kind in INTEGRAL_KINDS and other.kind == "decimal":
        return decimal_for(given)
    if given.kind == "decimal" and other.kind in {"float", "double"}:
        return DOUBLE
    return given


def _tighten(left: DataType, right: DataType, accepts: Accepts) -> Meeting:
    if left is not right:
        common = tightest_type(left, right)
        if common is not None and accepts(common):
            return _cast_both(left, right, common)
    return Meeting(left, right, forced=False)


def narrowed_literal(operand: Operand, other: Operand) -> DataType:
    """The operand's type, but an integer literal beside a decimal is as narrow as its digits."""
    given = operand.type
    # Spark leaves tinyint literals as they are.
    if other.type.kind != "decimal" or given.kind not in INTEGRAL_KINDS or given.kind == "tinyint":
        return given
    value = operand.value
    if isinstance(value, int) and not isinstance(value, bool):
        return decimal(len(str(abs(value))), 0)
    return given
