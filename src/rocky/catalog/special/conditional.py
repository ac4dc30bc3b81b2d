"""Conditional functions: one of several values, after all of them met in one type.

`nullif` keeps the type of its first argument: only the comparison needs a common one.
"""

from collections.abc import Callable, Sequence

from rocky.catalog.functions import find_function, type_call
from rocky.catalog.operand import Operand, Refusal, Typing
from rocky.catalog.special.refusals import (
    different_types,
    refused,
    unexpected_type,
    unordered,
    wrong_count,
)
from rocky.datatypes import types as t
from rocky.datatypes.branches import branch_type
from rocky.datatypes.casts import force_nullable
from rocky.datatypes.coercion import widest_without_string
from rocky.datatypes.comparison import comparison
from rocky.datatypes.mismatch import OperandMismatch
from rocky.datatypes.ordering import is_orderable
from rocky.datatypes.types import DataType

_ZERO = Operand(t.INT, False, 0, True)


_COMMON: dict[tuple[DataType, ...], DataType | None] = {}


def common_type(types: Sequence[DataType]) -> DataType | None:
    """The type Spark gives to alternatives; None when there is none."""
    first = types[0]
    for other in types:
        if other is not first:
            break
    else:
        return first
    key = tuple(types)
    try:
        return _COMMON[key]
    except KeyError:
        found = branch_type("", types)
        common = _COMMON[key] = None if isinstance(found, OperandMismatch) else found
        return common


def becomes_nullable(arg: Operand, target: DataType) -> bool:
    """Whether the argument may be null once cast to the common type."""
    return arg.nullable or (arg.type is not target and force_nullable(arg.type, target))


def type_coalesce(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if not args:
        return wrong_count(name, "1 or more", 0)
    found = common_type([arg.type for arg in args])
    if found is None:
        return different_types(name, args)
    for arg in args:
        if not becomes_nullable(arg, found):
            return found, False
    return found, True


def type_nvl(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    return type_coalesce("coalesce", args)


def type_if(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 3:
        return wrong_count(name, "3", len(args))
    condition = args[0].type
    if condition.kind not in ("boolean", "void", "unknown"):
        return unexpected_type(name, 0, "`boolean`", condition)
    found = _type_branches(name, args[1:])
    if isinstance(found, Refusal) and condition is t.NULL:
        # Spark casts the NULL condition only once the branches agree.
        return unexpected_type(name, 0, "`boolean`", condition)
    return found


def type_nvl2(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 3:
        return wrong_count(name, "3", len(args))
    return _type_branches("if", args[1:])


def _type_branches(name: str, branches: Sequence[Operand]) -> Typing | Refusal:
    found = common_type([branch.type for branch in branches])
    if found is None:
        return different_types(name, branches)
    return found, any(becomes_nullable(branch, found) for branch in branches)


def check_comparison(op: str, args: Sequence[Operand]) -> Refusal | None:
    """Why two values cannot be compared, if they cannot."""
    return refused(comparison(op, args[0], args[1]))


def type_nullif(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    refusal = check_comparison("=", args)
    return refusal if refusal is not None else (args[0].type, True)


def type_nullifzero(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 1:
        return wrong_count(name, "1", len(args))
    return type_nullif(name, (args[0], _ZERO))


def type_zeroifnull(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 1:
        return wrong_count(name, "1", len(args))
    return type_coalesce("coalesce", (args[0], _ZERO))


def type_greatest(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`greatest` and `least`: strings are not promoted to the other arguments' type."""
    if len(args) < 2:
        return wrong_count(name, "2 or more", len(args))
    found: DataType = args[0].type
    for arg in args[1:]:
        wider = found if arg.type is found else widest_without_string(found, arg.type)
        if wider is None:
            return different_types(name, args)
        found = wider
    if not is_orderable(found):
        return unordered(name, found)
    return found, all(becomes_nullable(arg, found) for arg in args)


def type_equal_null(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    refusal = check_comparison("<=>", args)
    return refusal if refusal is not None else (t.BOOLEAN, False)


def type_decode(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`decode(bytes, charset)`, or `decode(value, search, result, ..., default)`."""
    if len(args) < 3:
        info = find_function("decode")
        return type_call(info, args) if info is not None else (t.STRING, True)
    results = [*args[2::2], *(args[-1:] if len(args) % 2 == 0 else ())]
    for search in args[1:-1:2]:
        if isinstance(comparison("<=>", args[0], search), OperandMismatch):
            return different_types(name, [args[0], search])
    found = common_type([result.type for result in results])
    if found is None:
        return different_types(name, results)
    has_default = len(args) % 2 == 0
    return found, not has_default or any(becomes_nullable(result, found) for result in results)


CONDITIONAL: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "coalesce": type_coalesce,
    "if": type_if,
    "ifnull": type_nvl,
    "nvl": type_nvl,
    "nvl2": type_nvl2,
    "nullif": type_nullif,
    "nullifzero": type_nullifzero,
    "zeroifnull": type_zeroifnull,
    "greatest": type_greatest,
    "least": type_greatest,
    "equal_null": type_equal_null,
    "decode": type_decode,
}
