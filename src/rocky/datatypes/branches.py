"""Branches: several values that must become one column (CASE, COALESCE, set operations, `||`).

The nullability of a branch is that of the branch *after* its cast: a string beside a number
makes the whole nullable, because Spark counts the cast of a string as able to fail.
"""

from collections.abc import Sequence

from rocky.datatypes.casts import force_nullable, plain
from rocky.datatypes.coercion import implicit_cast, same_type, set_operation_type, widest_of
from rocky.datatypes.mismatch import Operand, OperandMismatch, Typing, scattered, unexpected
from rocky.datatypes.ordering import distinct_refusal
from rocky.datatypes.types import (
    STRING,
    STRING_KINDS,
    UNKNOWN,
    DataType,
)


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


def coalesce_branches(values: Sequence[Operand], op: str = "COALESCE") -> Typing | OperandMismatch:
    """The column of COALESCE: nullable when every value is."""
    common = branch_type(op, [value.type for value in values])
    if isinstance(common, OperandMismatch):
        return common
    return common, all(value.nullable or force_nullable(value.type, common) for value in values)


def branch_type(op: str, types: Sequence[DataType]) -> DataType | OperandMismatch:
    """The one type of several branches."""
    first = types[0]
    if first.kind not in {"char", "varchar"} and all(given is first for given in types):
        return first
    listed = [plain(given) for given in types]
    if all(given.kind in STRING_KINDS for given in listed):
        return _collated(listed)
    common = widest_of(listed)
    return scattered(op, listed) if common is None else common


def _collated(types: Sequence[DataType]) -> DataType:
    # A collation other than the default is one the author asked for.
    return next((given for given in types if given is not STRING), STRING)


def concatenation(values: Sequence[Operand], op: str = "||") -> Typing | OperandMismatch:
    """`a || b` and `concat`: strings, or binaries alone, or arrays alone."""
    types = [plain(value.type) for value in values]
    if UNKNOWN in types:
        return UNKNOWN, True
    nullable = any(value.nullable for value in values)
    if all(given.kind == "array" for given in types):
        common = widest_of(types)
        return scattered(op, types) if common is None else (common, nullable)
    if all(given.kind == "binary" for given in types):
        return types[0], nullable
    strings: list[DataType] = []
    for at, given in enumerate(types):
        if given.kind in {"map", "struct"}:
            return unexpected(op, given, "a `string`, `binary` or array", at)
        as_string = implicit_cast(given, "string")
        if as_string is not None:
            strings.append(as_string)
            nullable = nullable or force_nullable(given, as_string)
    if len(strings) < len(types):
        return scattered(op, types)
    return _collated(strings), nullable


def set_operation_column(op: str, left: Operand, right: Operand) -> Typing | OperandMismatch:
    """One column of `UNION`, `INTERSECT` or `EXCEPT`, each side cast to the common type."""
    common = _set_type(op, plain(left.type), plain(right.type))
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
        return _incompatible(op, left, right) if common is None else common
    # These two compare rows, and keep the left side's type when only null flags differ.
    if common is None:
        both_maps = left.kind == "map" and right.kind == "map"
        refusal = distinct_refusal(left) if both_maps else None
        return refusal or _incompatible(op, left, right)
    if same_type(left, right):
        common = left
    return distinct_refusal(common) or common


def _incompatible(op: str, left: DataType, right: DataType) -> OperandMismatch:
    return OperandMismatch(
        "INCOMPATIBLE_COLUMN_TYPE", f"{op} cannot bring `{left}` and `{right}` to one type"
    )
