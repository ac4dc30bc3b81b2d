"""Predicates: AND, OR, NOT, and the LIKE family.

Strings are taken for booleans here (`NOT 'true'`, `b AND 'true'`), but not where a condition
stands by itself: WHERE, ON and CASE WHEN want a boolean as it is.
"""

from collections.abc import Sequence

from rocky.datatypes.casts import force_nullable, plain
from rocky.datatypes.coercion import implicit_cast
from rocky.datatypes.mismatch import Operand, OperandMismatch, Typing, unexpected
from rocky.datatypes.operators import check_sides, coerce_sides, narrowed_literal
from rocky.datatypes.types import BOOLEAN, NULL, STRING, UNKNOWN, DataType

_CONDITIONS: dict[tuple[DataType, DataType], bool] = {}


def conjunction(op: str, left: Operand, right: Operand) -> Typing | OperandMismatch:
    """`left AND right`, `left OR right`."""
    if left.type is BOOLEAN and right.type is BOOLEAN:
        return BOOLEAN, left.nullable or right.nullable
    key = (left.type, right.type)
    forced = _CONDITIONS.get(key)
    if forced is None:
        found = _forced_boolean(
            op, plain(narrowed_literal(left, right)), plain(narrowed_literal(right, left))
        )
        if isinstance(found, OperandMismatch):
            return found
        forced = _CONDITIONS[key] = found
    return BOOLEAN, forced or left.nullable or right.nullable


def _forced_boolean(op: str, left: DataType, right: DataType) -> bool | OperandMismatch:
    if left is UNKNOWN or right is UNKNOWN or (left is NULL and right is NULL):
        return True

    def accepts(given: DataType) -> bool:
        return given is BOOLEAN

    met = coerce_sides(left, right, accepts)
    checked = check_sides(op, left, right, met, accepts)
    return checked if isinstance(checked, OperandMismatch) else met.forced


def negation(operand: Operand) -> Typing | OperandMismatch:
    """`NOT operand`."""
    given = plain(operand.type)
    if implicit_cast(given, BOOLEAN) is None:
        return unexpected("NOT", given, "a `boolean`", 0)
    return BOOLEAN, operand.nullable or force_nullable(given, BOOLEAN)


def like(
    op: str, value: Operand, patterns: Sequence[Operand], *, quantified: bool = False
) -> Typing | OperandMismatch:
    """`value LIKE pattern` and its like; several patterns, or `quantified`, for ANY and ALL."""
    # Over literals Spark evaluates ANY and ALL as one expression, which it calls nullable;
    # over anything else it makes a chain of single comparisons.
    nullable = (quantified or len(patterns) > 1) and all(
        isinstance(pattern.value, str) for pattern in patterns
    )
    for at, operand in enumerate((value, *patterns)):
        given = plain(operand.type)
        if implicit_cast(given, "string") is None:
            return unexpected(op, given, "a `string`", at)
        nullable = nullable or operand.nullable or force_nullable(given, STRING)
    return BOOLEAN, nullable
