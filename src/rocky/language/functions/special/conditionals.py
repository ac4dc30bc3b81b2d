"""Conditional functions and predicates: `coalesce`, `nvl`, `if`, `decode`, `in`, `like`, `when`.

They type as the operators and CASE do, after all values met in one type. `nullif` keeps the type
of its first argument: only the comparison needs a common one.
"""

import re
from collections.abc import Sequence
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import force_nullable
from rocky.language.datatypes.coercion import widest_without_string
from rocky.language.datatypes.comparison import (
    between,
    branch_type,
    case_branches,
    comparison,
    in_list,
)
from rocky.language.datatypes.operators import OperandMismatch, is_orderable, like
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.catalogue import find_function, type_call
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing

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


def type_coalesce(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1, None)
    found = common_type([arg.type for arg in args])
    if found is None:
        raise f.different_types(name, args)
    for arg in args:
        if not becomes_nullable(arg, found):
            return found, False
    return found, True


def type_nvl(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    return type_coalesce("coalesce", args)


def type_if(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 3)
    condition = args[0].type
    if condition.kind not in ("boolean", "void", "unknown"):
        raise f.unexpected_type(name, 0, "`boolean`", condition)
    if condition is t.NULL and common_type([args[1].type, args[2].type]) is None:
        # Spark casts the NULL condition only once the branches agree.
        raise f.unexpected_type(name, 0, "`boolean`", condition)
    return _type_branches(name, args[1:])


def type_nvl2(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 3)
    return _type_branches("if", args[1:])


def _type_branches(name: str, branches: Sequence[Operand]) -> Typing:
    found = common_type([branch.type for branch in branches])
    if found is None:
        raise f.different_types(name, branches)
    return found, any(becomes_nullable(branch, found) for branch in branches)


def type_nullif(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    f.unless_refused(comparison("=", args[0], args[1]))
    return args[0].type, True


def type_nullifzero(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    return type_nullif(name, (args[0], _ZERO))


def type_zeroifnull(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    return type_coalesce("coalesce", (args[0], _ZERO))


def type_greatest(name: str, args: Sequence[Operand]) -> Typing:
    """`greatest` and `least`: strings are not promoted to the other arguments' type."""
    f.take(name, args, 2, None)
    found: DataType = args[0].type
    for arg in args[1:]:
        wider = found if arg.type is found else widest_without_string(found, arg.type)
        if wider is None:
            raise f.different_types(name, args)
        found = wider
    if not is_orderable(found):
        raise f.unordered(name, found)
    return found, all(becomes_nullable(arg, found) for arg in args)


def type_equal_null(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    f.unless_refused(comparison("<=>", args[0], args[1]))
    return t.BOOLEAN, False


def type_decode(name: str, args: Sequence[Operand]) -> Typing:
    """`decode(bytes, charset)`, or `decode(value, search, result, ..., default)`."""
    if len(args) < 3:
        info = find_function("decode")
        return type_call(info, args) if info is not None else (t.STRING, True)
    results = [*args[2::2], *(args[-1:] if len(args) % 2 == 0 else ())]
    for search in args[1:-1:2]:
        if isinstance(comparison("<=>", args[0], search), OperandMismatch):
            raise f.different_types(name, [args[0], search])
    found = common_type([result.type for result in results])
    if found is None:
        raise f.different_types(name, results)
    has_default = len(args) % 2 == 0
    return found, not has_default or any(becomes_nullable(result, found) for result in results)


CONDITIONAL: dict[str, Rule] = {
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


def type_in(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1, None)
    return t.BOOLEAN, f.unless_refused(in_list(args[0], args[1:])).nullable


def type_between(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 3)
    return f.unless_refused(between(args[0], args[1], args[2]))


_LIKES: Final = {
    "like": "LIKE",
    "ilike": "ILIKE",
    "rlike": "RLIKE",
    "regexp": "RLIKE",
    "regexp_like": "RLIKE",
}


def type_like(name: str, args: Sequence[Operand]) -> Typing:
    """A third argument, the escape of LIKE, changes nothing."""
    most = 3 if name in ("like", "ilike") else 2
    if not 2 <= len(args) <= most:
        raise f.wrong_count(name, "2" if most == 2 else "2 or 3", len(args))
    return f.unless_refused(like(_LIKES[name], args[0], [args[1]]))


def type_when(name: str, args: Sequence[Operand]) -> Typing:
    """`when(condition, value, ..., [otherwise])`."""
    f.take(name, args, 1, None)
    pairs = len(args) // 2
    has_else = bool(len(args) % 2)
    values = list(args[1 : 2 * pairs : 2])
    if has_else:
        values.append(args[-1])
    outcome = f.unless_refused(case_branches(values, has_else=has_else))
    for place in range(pairs):
        condition = args[2 * place].type
        if condition.kind not in ("boolean", "unknown"):
            raise f.unexpected_type(name, place, "`boolean`", condition)
    return outcome


_LOCALE: Final = re.compile(
    r"([a-z]{2,3})(_[a-z]{4})?(_[a-z]{3})?((?:_(?:ci|cs|ai|as|rtrim))*)", re.IGNORECASE
)
_ROOTS: Final = re.compile(
    r"(?:utf8_binary|utf8_lcase|unicode)((?:_(?:ci|cs|ai|as|rtrim))*)", re.IGNORECASE
)


def _read_collation(label: str) -> str | None:
    """A collation's name as Spark spells it, or None."""
    if _ROOTS.fullmatch(label):
        return label.upper()
    found = _LOCALE.fullmatch(label)
    if found is None:
        return None
    language, script, country, suffix = (part or "" for part in found.groups())
    return f"{language.lower()}{script.title()}{country.upper()}{suffix.upper()}"


def type_collate(name: str, args: Sequence[Operand]) -> Typing:
    """`collate(text, 'UNICODE')`: the same text under another collation."""
    f.take(name, args, 2)
    text, label = args
    if label.type is t.UNKNOWN:
        return t.UNKNOWN, text.nullable
    if not label.foldable:
        raise Refusal("NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}` must be a constant", 1)
    if label.value is None or label.type.kind not in t.STRING_KINDS:
        raise Refusal("UNEXPECTED_INPUT_TYPE", f"argument 2 of `{name}` must be `string`", 1)
    if label.value is NO_VALUE:
        return t.UNKNOWN, text.nullable
    collation = _read_collation(str(label.value))
    if collation is None:
        raise Refusal("COLLATION_INVALID_NAME", f"`{label.value}` is not a collation", 1)
    if text.type.kind not in t.STRING_KINDS and text.type.kind not in ("void", "unknown"):
        raise f.unexpected_type(name, 0, "`string`", text.type)
    return t.string(collation), text.nullable


PREDICATES: dict[str, Rule] = {
    "in": type_in,
    "between": type_between,
    **dict.fromkeys(_LIKES, type_like),
    "when": type_when,
    "collate": type_collate,
}
