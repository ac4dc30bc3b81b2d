"""Comparison and choice: `=`, `<`, `<=>`, IN and BETWEEN; CASE, COALESCE, UNION and `||`.

Spark casts both sides of a comparison to one type and says nothing when that cast can fail on some
row (`id = '12a'`); `Comparison.unsafe` is how a lint learns of it. The nullability of a branch is
that of the branch *after* its cast: a string beside a number makes the whole nullable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import expression_type, force_nullable
from rocky.language.datatypes.coercion import (
    implicit_cast,
    same_type,
    set_operation_type,
    widest_of,
)
from rocky.language.datatypes.operators import (
    Operand,
    OperandMismatch,
    Typing,
    check_sides,
    coerce_sides,
    distinct_refusal,
    is_orderable,
    narrowed_literal,
    no_common_type,
    unexpected_type,
    unordered,
)
from rocky.language.datatypes.types import DataType, StructField

_RANGE_OPERATORS: Final = frozenset({"<", "<=", ">", ">="})
_PLAIN_ATOMS: Final = frozenset(
    {t.TINYINT, t.SMALLINT, t.INT, t.BIGINT, t.DOUBLE, t.STRING, t.DATE, t.TIMESTAMP}
)
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
    left, right = _one_collation(expression_type(left), expression_type(right))
    right = with_field_names(left, right)
    if left is t.UNKNOWN or right is t.UNKNOWN:
        return _finish(t.UNKNOWN, forced=True, unsafe=False, literal=False)
    met = coerce_sides(left, right, _accepts_any)
    if isinstance(met.left, t.DecimalType) and isinstance(met.right, t.DecimalType):
        common: DataType = t.wider_decimal(met.left, met.right)
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
        unsafe=is_unsafe_comparison(left, right),
        literal="decimal" in kinds and not kinds.isdisjoint(t.INTEGRAL_KINDS),
    )


def with_field_names(wanted: DataType, given: DataType) -> DataType:
    """`given` with the field names of `wanted` where only those differ: Spark compares by place."""
    if (
        isinstance(wanted, t.StructType)
        and isinstance(given, t.StructType)
        and len(wanted.fields) == len(given.fields)
    ):
        renamed = t.struct(
            tuple(
                StructField(ours.name, with_field_names(ours.type, theirs.type), theirs.nullable)
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
    if left.kind in t.STRING_KINDS and right.kind in t.STRING_KINDS:
        return left, left
    return left, right


def is_unsafe_comparison(left: DataType, right: DataType) -> bool:
    """Whether two types only meet by casting a string that may not be readable as the other."""
    left_string, right_string = left.kind in t.STRING_KINDS, right.kind in t.STRING_KINDS
    if left_string == right_string:
        return False
    other = right if left_string else left
    return other is not t.UNKNOWN and other is not t.NULL and other.kind != "binary"


def _is_range_literal(op: str, side: Operand, other: Operand) -> bool:
    """Whether Spark turns a decimal literal beside an integer into a bigint bound."""
    return (
        op in _RANGE_OPERATORS
        and isinstance(side.value, Decimal)
        and other.type.kind in t.INTEGRAL_KINDS
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
    types = [with_field_names(own, expression_type(member.type)) for member in members]
    if t.UNKNOWN in types:
        return Comparison(nullable=True, common=t.UNKNOWN, unsafe=False)
    common = _list_type(types)
    if common is None:
        return no_common_type("IN", types)
    if not is_orderable(common):
        return unordered("IN", common)
    return Comparison(
        nullable=any(
            member.nullable or force_nullable(given, common)
            for member, given in zip(members, types, strict=True)
        ),
        common=common,
        unsafe=any(is_unsafe_comparison(types[0], given) for given in types[1:]),
    )


def _list_type(types: list[DataType]) -> DataType | None:
    if all(given.kind in t.STRING_KINDS for given in types):
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
    return t.BOOLEAN, above.nullable or below.nullable


def case_branches(
    values: Sequence[Operand], *, has_else: bool, op: str = "CASE"
) -> Typing | OperandMismatch:
    """The column of CASE, IF and their like: nullable when any branch is or ELSE is missing."""
    common = branch_type(op, [value.type for value in values])
    if isinstance(common, OperandMismatch):
        return common
    return common, not has_else or any(
        value.nullable or force_nullable(value.type, common) for value in values
    )


def branch_type(op: str, types: Sequence[DataType]) -> DataType | OperandMismatch:
    """The one type of several branches."""
    first = types[0]
    if first.kind not in {"char", "varchar"} and all(given is first for given in types):
        return first
    listed = [expression_type(given) for given in types]
    if all(given.kind in t.STRING_KINDS for given in listed):
        return _collated(listed)
    common = widest_of(listed)
    return no_common_type(op, listed) if common is None else common


def _collated(types: Sequence[DataType]) -> DataType:
    # A collation other than the default is one the author asked for.
    return next((given for given in types if given is not t.STRING), t.STRING)


def concatenation(values: Sequence[Operand], op: str = "||") -> Typing | OperandMismatch:
    """`a || b` and `concat`: strings, or binaries alone, or arrays alone."""
    types = [expression_type(value.type) for value in values]
    if t.UNKNOWN in types:
        return t.UNKNOWN, True
    nullable = any(value.nullable for value in values)
    if all(given.kind == "array" for given in types):
        common = widest_of(types)
        return no_common_type(op, types) if common is None else (common, nullable)
    if all(given.kind == "binary" for given in types):
        return types[0], nullable
    strings: list[DataType] = []
    for at, given in enumerate(types):
        if given.kind in {"map", "struct"}:
            return unexpected_type(op, given, "a `string`, `binary` or array", at)
        as_string = implicit_cast(given, "string")
        if as_string is not None:
            strings.append(as_string)
            nullable = nullable or force_nullable(given, as_string)
    if len(strings) < len(types):
        return no_common_type(op, types)
    return _collated(strings), nullable


def set_operation_column(op: str, left: Operand, right: Operand) -> Typing | OperandMismatch:
    """One column of `UNION`, `INTERSECT` or `EXCEPT`, each side cast to the common type."""
    common = _set_type(op, expression_type(left.type), expression_type(right.type))
    if isinstance(common, OperandMismatch):
        return common
    left_null = left.nullable or force_nullable(left.type, common)
    right_null = right.nullable or force_nullable(right.type, common)
    if op == "INTERSECT":
        return common, left_null and right_null
    return common, left_null if op == "EXCEPT" else left_null or right_null


def _set_type(op: str, left: DataType, right: DataType) -> DataType | OperandMismatch:
    common = set_operation_type(left, right)
    if op == "UNION":
        if common is None:
            # Structs that differ in the names of their fields only take those of the first.
            common = set_operation_type(left, right_named_as_left(left, right))
        return _incompatible(op, left, right) if common is None else common
    # These two compare rows, and keep the left side's type when only null flags differ.
    if common is None:
        both_maps = left.kind == "map" and right.kind == "map"
        refusal = distinct_refusal(left) if both_maps else None
        return refusal or _incompatible(op, left, right)
    if same_type(left, right):
        common = left
    return distinct_refusal(common) or common


def right_named_as_left(left: DataType, right: DataType) -> DataType:
    """The right type with the left one's names of fields, where the two are else the same."""
    if isinstance(left, t.ArrayType) and isinstance(right, t.ArrayType):
        return t.array(right_named_as_left(left.element, right.element), right.contains_null)
    if isinstance(left, t.MapType) and isinstance(right, t.MapType):
        key = right_named_as_left(left.key, right.key)
        return t.map_of(key, right_named_as_left(left.value, right.value), right.contains_null)
    if not (isinstance(left, t.StructType) and isinstance(right, t.StructType)):
        return right
    if len(left.fields) != len(right.fields):
        return right
    renamed = t.struct(
        tuple(
            t.StructField(ours.name, right_named_as_left(ours.type, theirs.type), theirs.nullable)
            for ours, theirs in zip(left.fields, right.fields, strict=True)
        )
    )
    return renamed if same_type(left, renamed) else right


def _incompatible(op: str, left: DataType, right: DataType) -> OperandMismatch:
    return OperandMismatch(
        "INCOMPATIBLE_COLUMN_TYPE", f"{op} cannot bring `{left}` and `{right}` to one type"
    )
