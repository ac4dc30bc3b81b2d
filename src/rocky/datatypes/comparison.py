"""Comparison: `=`, `<`, `<=>` and their like, IN and BETWEEN.

Spark casts both sides to one type and says nothing when that cast can fail on some row
(`id = '12a'`); `Comparison.unsafe` is how a lint learns of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from rocky.datatypes.casts import force_nullable, plain
from rocky.datatypes.coercion import same_type, widest_of
from rocky.datatypes.decimals import wider_decimal
from rocky.datatypes.mismatch import (
    Operand,
    OperandMismatch,
    Typing,
    scattered,
    unordered,
)
from rocky.datatypes.operators import check_sides, coerce_sides, narrowed_literal
from rocky.datatypes.ordering import is_orderable
from rocky.datatypes.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTEGRAL_KINDS,
    NULL,
    SMALLINT,
    STRING,
    STRING_KINDS,
    TIMESTAMP,
    TINYINT,
    UNKNOWN,
    DataType,
    DecimalType,
    StructField,
    StructType,
    struct,
)

_RANGE_OPERATORS: Final = frozenset({"<", "<=", ">", ">="})
_PLAIN_ATOMS: Final = frozenset({TINYINT, SMALLINT, INT, BIGINT, DOUBLE, STRING, DATE, TIMESTAMP})
_LONG_MIN: Final = -(2**63)
_LONG_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison's result is boolean; `common` is the type both sides are compared in."""

    nullable: bool
    common: DataType
    unsafe: bool


@dataclass(frozen=True, slots=True)
class _Rule:
    common: DataType
    forced: bool
    unsafe: bool
    literal: bool
    certain: Comparison
    possible: Comparison


_RULES: dict[tuple[DataType, DataType], _Rule] = {}


def comparison(op: str, left: Operand, right: Operand) -> Comparison | OperandMismatch:
    """How two operands are compared, or why Spark refuses."""
    key = (left.type, right.type)
    rule = _RULES.get(key)
    if rule is None:
        found = _rule(op, *key)
        if isinstance(found, OperandMismatch):
            return found
        rule = _RULES[key] = found
    if op == "<=>" or (rule.literal and _is_decided(op, left, right)):
        return rule.certain
    if rule.forced or left.nullable or right.nullable:
        return rule.possible
    if rule.literal and (_is_forced(op, left, right) or _is_forced(op, right, left)):
        return rule.possible
    return rule.certain


def _rule(op: str, left: DataType, right: DataType) -> _Rule | OperandMismatch:
    left, right = _one_collation(plain(left), plain(right))
    right = named_alike(left, right)
    if left is UNKNOWN or right is UNKNOWN:
        return _finish(UNKNOWN, forced=True, unsafe=False, literal=False)
    met = coerce_sides(left, right, _accepts_any)
    if isinstance(met.left, DecimalType) and isinstance(met.right, DecimalType):
        common: DataType = wider_decimal(met.left, met.right)
    else:
        checked = check_sides(op, left, right, met, _accepts_any)
        if isinstance(checked, OperandMismatch):
            return checked
        common = met.left
    if not is_orderable(common):
        return unordered(op, common)
    kinds = {left.kind, right.kind}
    return _finish(
        common,
        forced=met.forced,
        unsafe=is_unsafe_meeting(left, right),
        literal="decimal" in kinds and not kinds.isdisjoint(INTEGRAL_KINDS),
    )


def named_alike(wanted: DataType, given: DataType) -> DataType:
    """`given` with the field names of `wanted` where only those differ: Spark compares by place."""
    if (
        isinstance(wanted, StructType)
        and isinstance(given, StructType)
        and len(wanted.fields) == len(given.fields)
    ):
        renamed = struct(
            tuple(
                StructField(ours.name, named_alike(ours.type, theirs.type), theirs.nullable)
                for ours, theirs in zip(wanted.fields, given.fields, strict=True)
            )
        )
        # Types that differ as well are only cast between fields of one name.
        return renamed if same_type(wanted, renamed) else given
    return given


def _finish(common: DataType, *, forced: bool, unsafe: bool, literal: bool) -> _Rule:
    certain = Comparison(nullable=False, common=common, unsafe=unsafe)
    possible = Comparison(nullable=True, common=common, unsafe=unsafe)
    return _Rule(common, forced, unsafe, literal, certain, possible)


def _accepts_any(given: DataType) -> bool:  # noqa: ARG001 - a comparison takes all types
    return True


def _one_collation(left: DataType, right: DataType) -> tuple[DataType, DataType]:
    # Which collation wins depends on where each comes from (column, literal, COLLATE), which
    # types do not tell; the result is a boolean whichever it is.
    if left.kind in STRING_KINDS and right.kind in STRING_KINDS:
        return left, left
    return left, right


def is_unsafe_meeting(left: DataType, right: DataType) -> bool:
    """Whether two types only meet by casting a string that may not be readable as the other."""
    left_string, right_string = left.kind in STRING_KINDS, right.kind in STRING_KINDS
    if left_string == right_string:
        return False
    other = right if left_string else left
    return other is not UNKNOWN and other is not NULL and other.kind != "binary"


def _is_range_literal(op: str, side: Operand, other: Operand) -> bool:
    """Whether Spark turns a decimal literal beside an integer into a bigint bound."""
    return (
        op in _RANGE_OPERATORS
        and isinstance(side.value, Decimal)
        and other.type.kind in INTEGRAL_KINDS
    )


def _is_forced(op: str, side: Operand, other: Operand) -> bool:
    """Whether Spark's cast of an integer literal to a narrow decimal counts as able to fail."""
    if _is_range_literal(op, other, side):
        return False
    return force_nullable(side.type, narrowed_literal(side, other))


def _is_decided(op: str, left: Operand, right: Operand) -> bool:
    """Whether a decimal literal beyond every bigint settles the comparison for any row."""
    for side, other in ((left, right), (right, left)):
        if _is_range_literal(op, side, other):
            return not _LONG_MIN <= side.value <= _LONG_MAX
    return False


# -- lists and ranges -------------------------------------------------------------------------


def in_list(value: Operand, items: Sequence[Operand]) -> Comparison | OperandMismatch:
    """`value IN (items)`; NOT IN is the same."""
    own = value.type
    if own in _PLAIN_ATOMS and all(item.type is own for item in items):
        nullable = value.nullable or any(item.nullable for item in items)
        return Comparison(nullable=nullable, common=own, unsafe=False)
    members = [value, *items]
    types = [named_alike(own, plain(member.type)) for member in members]
    if UNKNOWN in types:
        return Comparison(nullable=True, common=UNKNOWN, unsafe=False)
    common = _list_type(types)
    if common is None:
        return scattered("IN", types)
    if not is_orderable(common):
        return unordered("IN", common)
    return Comparison(
        nullable=any(
            member.nullable or force_nullable(given, common)
            for member, given in zip(members, types, strict=True)
        ),
        common=common,
        unsafe=any(is_unsafe_meeting(types[0], given) for given in types[1:]),
    )


def _list_type(types: list[DataType]) -> DataType | None:
    if all(given.kind in STRING_KINDS for given in types):
        return types[0]
    return widest_of(types)


def in_subquery(value: Operand, column: Operand) -> Comparison | OperandMismatch:
    """One column of `value IN (SELECT column ...)`."""
    met = in_list(value, [column])
    if isinstance(met, OperandMismatch) and met.condition.endswith("DATA_DIFF_TYPES"):
        return OperandMismatch("DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH", met.message)
    return met


@dataclass(frozen=True, slots=True)
class _Reference:
    """An expression Spark computes once and refers to: a literal no longer shows its value."""

    type: DataType
    nullable: bool
    value: None = None


def between(value: Operand, low: Operand, high: Operand) -> Typing | OperandMismatch:
    """`value BETWEEN low AND high`: two comparisons, nullable when either is."""
    value = _Reference(value.type, value.nullable)
    above = comparison(">=", value, low)
    if isinstance(above, OperandMismatch):
        return above
    below = comparison("<=", value, high)
    if isinstance(below, OperandMismatch):
        return below
    return BOOLEAN, above.nullable or below.nullable
