"""Operators: what the sides of one may be, how they meet in one type, and AND, OR, NOT and LIKE.

A rule takes operands and returns a type with its nullability, or an `OperandMismatch`; it never
raises, since a user's mistake is a value. Spark's rules run in a fixed order (strings, then
decimals, then the tightest common type), and each changes what the next one sees: `'1' % 2` is
a bigint because the string goes first. Grouping is wider than ordering: a map can be grouped by
but not sorted, compared or made distinct.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import expression_type, force_nullable
from rocky.language.datatypes.coercion import (
    implicit_cast,
    promote_string,
    same_type,
    tightest_type,
)
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import DataType

Typing = tuple[DataType, bool]
"""A result type and whether it may be null."""


class Operand(Protocol):
    """A typed expression as these rules see it; `value` is a literal's Python value."""

    @property
    def type(self) -> DataType: ...

    @property
    def nullable(self) -> bool: ...

    @property
    def value(self) -> Any: ...


class OperandMismatch:
    """Why Spark refuses the operands: its condition, our message, and which one is at fault."""

    __slots__ = ("argument", "condition", "message")

    def __init__(self, condition: str, message: str, argument: int | None = None) -> None:
        self.condition = condition
        self.message = message
        self.argument = argument

    def __repr__(self) -> str:
        return f"OperandMismatch({self.condition!r}, {self.message!r}, {self.argument!r})"


def different_types(op: str, left: DataType, right: DataType) -> OperandMismatch:
    """The two sides do not meet in one type."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
        f"the sides of `{op}` have no common type: `{left}` and `{right}`",
    )


def wrong_type(op: str, given: DataType) -> OperandMismatch:
    """Both sides are of one type, but the operator is not made for it."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", f"`{op}` does not take `{given}`"
    )


def unexpected_type(op: str, given: DataType, wanted: str, argument: int) -> OperandMismatch:
    """One operand is not of the type its place asks for."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        f"`{op}` wants {wanted} here, not `{given}`",
        argument,
    )


def uncastable(op: str, given: DataType, argument: int) -> OperandMismatch:
    """Spark plans a cast it then refuses to make."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", f"`{op}` cannot take `{given}` here", argument
    )


def unordered(op: str, given: DataType) -> OperandMismatch:
    """The operator compares, and values of the type have no order."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
        f"`{op}` cannot compare values of `{given}`, which have no order",
    )


def no_common_type(op: str, types: list[DataType]) -> OperandMismatch:
    """The members of a list or the branches of a choice do not meet in one type."""
    listed = ", ".join(f"`{given}`" for given in dict.fromkeys(types))
    return OperandMismatch(
        "DATATYPE_MISMATCH.DATA_DIFF_TYPES", f"`{op}` needs one type, but finds {listed}"
    )


def is_orderable(given: DataType) -> bool:
    """Whether ORDER BY, comparisons, MIN and MAX take the type."""
    match given:
        case t.ArrayType(element=element):
            return is_orderable(element)
        case t.StructType(fields=fields):
            return all(is_orderable(field.type) for field in fields)
        case _:
            return given.kind not in {"map", "variant", "interval"}


def is_groupable(given: DataType) -> bool:
    """Whether GROUP BY takes the type."""
    return not holds_kind(given, "variant")


def group_refusal(given: DataType) -> OperandMismatch | None:
    """Why GROUP BY refuses a key of the type; None when it does not."""
    if is_groupable(given):
        return None
    return OperandMismatch(
        "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", f"cannot group by a value of `{given}`"
    )


def distinct_refusal(given: DataType) -> OperandMismatch | None:
    """Why DISTINCT, UNION, INTERSECT and EXCEPT refuse a column of the type."""
    for kind in ("map", "variant"):
        if holds_kind(given, kind):
            return OperandMismatch(
                f"UNSUPPORTED_FEATURE.SET_OPERATION_ON_{kind.upper()}_TYPE",
                f"cannot tell rows apart by a column of `{given}`, which holds a {kind}",
            )
    return None


def partition_refusal(given: DataType) -> OperandMismatch | None:
    """Why a window's PARTITION BY refuses a key of the type; it needs order, as sorting does."""
    if is_orderable(given):
        return None
    return OperandMismatch(
        "EXPRESSION_TYPE_IS_NOT_ORDERABLE", f"cannot partition by a value of `{given}`"
    )


Accepts = Callable[[DataType], bool]


@dataclass(frozen=True, slots=True)
class CoercedSides:
    """The types of both sides after Spark's casts; `forced` when a cast may give null."""

    left: DataType
    right: DataType
    forced: bool


def coerce_sides(left: DataType, right: DataType, accepts: Accepts) -> CoercedSides:
    """Both sides as Spark casts them for an operator; equal only when they meet."""
    promoted = promote_string(left, right)
    if promoted is not None:
        return _cast_both(left, right, promoted)
    if left.kind == "decimal" or right.kind == "decimal":
        return _coerce_decimal(left, right, accepts)
    return _tighten(left, right, accepts)


def check_sides(
    op: str, left: DataType, right: DataType, met: CoercedSides, accepts: Accepts
) -> CoercedSides | OperandMismatch:
    """The meeting when the operator takes its type (two decimals may differ), or why not."""
    if not same_type(met.left, met.right):
        both_exact = met.left.kind == "decimal" and met.right.kind == "decimal"
        if not (both_exact and accepts(met.left)):
            return different_types(op, left, right)
    if not accepts(met.left):
        return wrong_type(op, met.left)
    return met


def _cast_both(left: DataType, right: DataType, to: DataType) -> CoercedSides:
    return CoercedSides(to, to, force_nullable(left, to) or force_nullable(right, to))


def _coerce_decimal(left: DataType, right: DataType, accepts: Accepts) -> CoercedSides:
    if left is t.NULL or right is t.NULL:
        return _tighten(left, right, accepts)
    new_left, new_right = _beside_decimal(left, right), _beside_decimal(right, left)
    if isinstance(new_left, t.DecimalType) or isinstance(new_right, t.DecimalType):
        return CoercedSides(new_left, new_right, forced=False)
    return _tighten(new_left, new_right, accepts)


def _beside_decimal(given: DataType, other: DataType) -> DataType:
    if given.kind in t.INTEGRAL_KINDS and other.kind == "decimal":
        return t.decimal_for(given)
    if given.kind == "decimal" and other.kind in {"float", "double"}:
        return t.DOUBLE
    return given


def _tighten(left: DataType, right: DataType, accepts: Accepts) -> CoercedSides:
    if left is not right:
        common = tightest_type(left, right)
        if common is not None and accepts(common):
            return _cast_both(left, right, common)
    return CoercedSides(left, right, forced=False)


def narrowed_literal(operand: Operand, other: Operand) -> DataType:
    """The operand's type, but an integer literal beside a decimal is as narrow as its digits."""
    given = operand.type
    # Spark leaves tinyint literals as they are.
    if (
        other.type.kind != "decimal"
        or given.kind not in t.INTEGRAL_KINDS
        or given.kind == "tinyint"
    ):
        return given
    value = operand.value
    if isinstance(value, int) and not isinstance(value, bool):
        return t.decimal(len(str(abs(value))), 0)
    return given


_CONDITIONS: dict[tuple[DataType, DataType], bool] = {}


def conjunction(op: str, left: Operand, right: Operand) -> Typing | OperandMismatch:
    """`left AND right`, `left OR right`."""
    if left.type is t.BOOLEAN and right.type is t.BOOLEAN:
        return t.BOOLEAN, left.nullable or right.nullable
    key = (left.type, right.type)
    forced = _CONDITIONS.get(key)
    if forced is None:
        found = _forced_boolean(
            op,
            expression_type(narrowed_literal(left, right)),
            expression_type(narrowed_literal(right, left)),
        )
        if isinstance(found, OperandMismatch):
            return found
        forced = _CONDITIONS[key] = found
    return t.BOOLEAN, forced or left.nullable or right.nullable


def _forced_boolean(op: str, left: DataType, right: DataType) -> bool | OperandMismatch:
    if left is t.UNKNOWN or right is t.UNKNOWN or (left is t.NULL and right is t.NULL):
        return True

    def accepts(given: DataType) -> bool:
        return given is t.BOOLEAN

    met = coerce_sides(left, right, accepts)
    checked = check_sides(op, left, right, met, accepts)
    return checked if isinstance(checked, OperandMismatch) else met.forced


def negation(operand: Operand) -> Typing | OperandMismatch:
    """`NOT operand`."""
    given = expression_type(operand.type)
    if implicit_cast(given, t.BOOLEAN) is None:
        return unexpected_type("NOT", given, "a `boolean`", 0)
    return t.BOOLEAN, operand.nullable or force_nullable(given, t.BOOLEAN)


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
        given = expression_type(operand.type)
        if implicit_cast(given, "string") is None:
            return unexpected_type(op, given, "a `string`", at)
        nullable = nullable or operand.nullable or force_nullable(given, t.STRING)
    return t.BOOLEAN, nullable
