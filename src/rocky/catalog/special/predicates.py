"""Predicates written as calls: `in(a, b)`, `between(a, b, c)`, `like(a, b)`, `when(c, a, b)`.

They type as the operators of those names do; only `when` counts its ELSE by parity.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special.refusals import refused, unexpected_type, wrong_count
from rocky.datatypes import types as t
from rocky.datatypes.branches import case_branches
from rocky.datatypes.comparison import between, in_list
from rocky.datatypes.mismatch import OperandMismatch
from rocky.datatypes.predicates import like

Rule = Callable[[str, Sequence[Operand]], Typing | Refusal]


def _or_refusal(outcome: Typing | OperandMismatch) -> Typing | Refusal:
    if isinstance(outcome, OperandMismatch):
        return refused(outcome) or Refusal(outcome.condition, outcome.message)
    return outcome


def type_in(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if not args:
        return wrong_count(name, "1 or more", 0)
    outcome = in_list(args[0], args[1:])
    if isinstance(outcome, OperandMismatch):
        return _or_refusal(outcome)
    return t.BOOLEAN, outcome.nullable


def type_between(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 3:
        return wrong_count(name, "3", len(args))
    return _or_refusal(between(args[0], args[1], args[2]))


_LIKES: Final = {
    "like": "LIKE",
    "ilike": "ILIKE",
    "rlike": "RLIKE",
    "regexp": "RLIKE",
    "regexp_like": "RLIKE",
}


def type_like(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """A third argument, the escape of LIKE, changes nothing."""
    most = 3 if name in ("like", "ilike") else 2
    if not 2 <= len(args) <= most:
        return wrong_count(name, "2" if most == 2 else "2 or 3", len(args))
    return _or_refusal(like(_LIKES[name], args[0], [args[1]]))


def type_when(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`when(condition, value, ..., [otherwise])`."""
    if not args:
        return wrong_count(name, "1 or more", 0)
    pairs = len(args) // 2
    has_else = bool(len(args) % 2)
    values = list(args[1 : 2 * pairs : 2])
    if has_else:
        values.append(args[-1])
    outcome = _or_refusal(case_branches(values, has_else=has_else))
    if isinstance(outcome, Refusal):
        return outcome
    for place in range(pairs):
        condition = args[2 * place].type
        if condition.kind not in ("boolean", "unknown"):
            return unexpected_type(name, place, "`boolean`", condition)
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


def type_collate(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`collate(text, 'UNICODE')`: the same text under another collation."""
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    text, label = args
    if label.type is t.UNKNOWN:
        return t.UNKNOWN, text.nullable
    if not label.foldable:
        return Refusal("NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}` must be a constant", 1)
    if label.value is None or label.type.kind not in t.STRING_KINDS:
        return Refusal("UNEXPECTED_INPUT_TYPE", f"argument 2 of `{name}` must be `string`", 1)
    if label.value is NO_VALUE:
        return t.UNKNOWN, text.nullable
    collation = _read_collation(str(label.value))
    if collation is None:
        return Refusal("COLLATION_INVALID_NAME", f"`{label.value}` is not a collation", 1)
    if text.type.kind not in t.STRING_KINDS and text.type.kind not in ("void", "unknown"):
        return unexpected_type(name, 0, "`string`", text.type)
    return t.string(collation), text.nullable


PREDICATES: dict[str, Rule] = {
    "in": type_in,
    "between": type_between,
    **dict.fromkeys(_LIKES, type_like),
    "when": type_when,
    "collate": type_collate,
}
