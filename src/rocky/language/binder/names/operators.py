"""Printing operators, casts, CASE and predicates, each the way Spark has resolved it."""

import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expressions.casts import type_of
from rocky.language.binder.expressions.literals import number
from rocky.language.binder.names.literals import (
    cast_literal,
    literal_text,
    print_interval_run,
    print_negative_literal,
)
from rocky.language.binder.names.printer import bind_quietly, opening_before, pretty, pretty_list
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes import types as t

_SIGNS: Final[dict[type, str]] = {
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.EQ: "=",
    exp.NullSafeEQ: "<=>",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
}
_DAYS: Final = frozenset({"date"})
_MOMENTS: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_COUNTS: Final = frozenset({"int", "smallint", "tinyint"})
# A comparison of an integer with a decimal literal is one with the next whole number.
_ORDERED: Final[dict[type, tuple[str, str, str]]] = {
    exp.GT: (">", ROUND_FLOOR, ROUND_CEILING),
    exp.GTE: (">=", ROUND_CEILING, ROUND_FLOOR),
    exp.LT: ("<", ROUND_CEILING, ROUND_FLOOR),
    exp.LTE: ("<=", ROUND_FLOOR, ROUND_CEILING),
}
_LONG_BOUND: Final = 2**63
_COMPLEX: Final = frozenset({"array", "map", "struct"})


def _sides(node: exp.Expr, scope: Scope) -> tuple[str, str]:
    return pretty(node.args["this"], scope), pretty(node.args["expression"], scope)


def print_binary(node: exp.Binary, scope: Scope) -> str:
    left, right = _sides(node, scope)
    return f"({left} {_SIGNS[node.__class__]} {right})"


def print_right_shift(node: exp.BitwiseRightShift, scope: Scope) -> str:
    left, right = _sides(node, scope)
    first, last = scope.binding.span(node.args["this"]), scope.binding.span(node.args["expression"])
    unsigned = first is not None and last is not None
    between = scope.binding.text[first.end : last.start] if first and last else ""
    return f"({left} {'>>>' if unsigned and '>>>' in between else '>>'} {right})"


def print_unequal(node: exp.NEQ, scope: Scope) -> str:
    left, right = _sides(node, scope)
    return f"(NOT ({left} = {right}))"


def print_distinct_from(node: exp.NullSafeNEQ, scope: Scope) -> str:
    left, right = _sides(node, scope)
    return f"(NOT ({left} <=> {right}))"


def print_ordered_comparison(node: exp.Binary, scope: Scope) -> str:
    sign, as_right, as_left = _ORDERED[node.__class__]
    left, right = node.args["this"], node.args["expression"]
    for literal, other, rounding in ((right, left, as_right), (left, right, as_left)):
        whole = _whole_number(literal, other, rounding, scope)
        if whole is None:
            continue
        if abs(whole) >= _LONG_BOUND:
            return "true" if ((whole > 0) == (sign[0] == "<")) == (literal is right) else "false"
        if literal is right:
            return f"({pretty(left, scope)} {sign} {whole})"
        return f"({whole} {sign} {pretty(right, scope)})"
    return f"({pretty(left, scope)} {sign} {pretty(right, scope)})"


def _whole_number(literal: Any, other: Any, rounding: str, scope: Scope) -> int | None:
    """The whole number a decimal literal becomes beside an integer, or None."""
    negative = literal.__class__ is exp.Neg
    inner = literal.args["this"] if negative else literal
    if inner.__class__ is not exp.Literal or inner.args["is_string"]:
        return None
    value = number(inner.args["this"]).value
    if not isinstance(value, Decimal):
        return None
    if bind_quietly(other, scope).type.kind not in t.INTEGRAL_KINDS:
        return None
    return int((-value if negative else value).to_integral_value(rounding))


def print_logic(node: exp.Binary, scope: Scope) -> str:
    """AND and OR: Spark folds a run of one operator into a balanced tree."""
    kind = node.__class__
    word = "AND" if kind is exp.And else "OR"
    terms: list[Any] = []
    each: Any = node
    while each.__class__ is kind:
        terms.append(each.args["expression"])
        each = each.args["this"]
    terms.append(each)
    texts = [pretty(term, scope) for term in reversed(terms)]
    return _balanced(texts, 0, len(texts) - 1, word)


def _balanced(texts: list[str], low: int, high: int, word: str) -> str:
    if low == high:
        return texts[low]
    middle = low + (high - low) // 2
    left, right = _balanced(texts, low, middle, word), _balanced(texts, middle + 1, high, word)
    return f"({left} {word} {right})"


def print_sum(node: exp.Binary, scope: Scope) -> str:
    """`+` and `-`, which are other functions on dates and timestamps."""
    plus = node.__class__ is exp.Add
    if plus:
        run = print_interval_run(node, scope)  # type: ignore[arg-type]
        if run is not None:
            return run
    left, right = _sides(node, scope)
    ours = bind_quietly(node.args["this"], scope).type.kind
    theirs = bind_quietly(node.args["expression"], scope).type.kind
    if plus and _is_moved(theirs, ours) and ours not in _MOMENTS:
        left, right, ours, theirs = right, left, theirs, ours
    if _is_moved(ours, theirs):
        moved = _moved(node, plus, (left, right), (ours, theirs), scope)
        if moved is not None:
            return moved
    return f"({left} {'+' if plus else '-'} {right})"


def _is_moved(ours: str, theirs: str) -> bool:
    """Whether a value is a point in time that the other moves; a string beside an interval is."""
    return ours in _MOMENTS or (ours in t.STRING_KINDS and theirs in t.INTERVAL_KINDS)


def _moved(
    node: exp.Binary,
    plus: bool,  # noqa: FBT001 - which of two signs
    texts: tuple[str, str],
    kinds: tuple[str, str],
    scope: Scope,
) -> str | None:
    """A date or timestamp moved by a count of days or an interval."""
    (left, right), (ours, theirs) = texts, kinds
    if ours in _DAYS and theirs in _COUNTS:
        return f"{'date_add' if plus else 'date_sub'}({left}, {right})"
    if theirs not in t.INTERVAL_KINDS and not (plus and theirs == "void"):
        return None
    if ours in _DAYS and theirs == "interval_dt":
        whole = bind_quietly(node, scope).type
        if whole is t.DATE:
            days = f"extractansiintervaldays({right})"
            return f"date_add({left}, {days if plus else f'(- {days})'})"
    return f"{left} {'+' if plus else '-'} {right}"


def print_product(node: exp.Mul, scope: Scope) -> str:
    """`*`; an interval goes first."""
    left, right = _sides(node, scope)
    if node.args["expression"].__class__ is not exp.Literal:
        theirs = bind_quietly(node.args["expression"], scope).type.kind
        if theirs in t.INTERVAL_KINDS:
            left, right = right, left
    return f"({left} * {right})"


def print_negation(node: exp.Neg, scope: Scope) -> str:
    literal = print_negative_literal(node, scope)
    return literal if literal is not None else f"(- {pretty(node.args['this'], scope)})"


def print_bitwise_not(node: exp.BitwiseNot, scope: Scope) -> str:
    return f"~{pretty(node.args['this'], scope)}"


def print_not(node: exp.Not, scope: Scope) -> str:
    inner = node.args["this"]
    if inner.__class__ is exp.Is and inner.args["expression"].__class__ is exp.Null:
        subject = inner.args["this"]
        if _says_is_not(subject, scope):
            return f"({pretty(subject, scope)} IS NOT NULL)"
    return f"(NOT {pretty(inner, scope)})"


_IS_NOT: Final = re.compile(r"(?is)(\s|\)|--[^\n]*\n|/\*.*?\*/)*is(\s|--[^\n]*\n|/\*.*?\*/)+not\b")


_NOT: Final = re.compile(r"(?i)\bnot\b|!")


def _says_is_not(subject: exp.Expr, scope: Scope) -> bool:
    """Whether `x IS NOT NULL` was written; the tree of `NOT x IS NULL` is the same."""
    span = scope.binding.span(subject)
    if span is None or _IS_NOT.match(scope.binding.text, span.end) is not None:
        return True
    return _NOT.search(opening_before(subject, scope)) is None


def print_is(node: exp.Is, scope: Scope) -> str:
    subject, value = node.args["this"], node.args["expression"]
    text = pretty(subject, scope)
    if value.__class__ is exp.Boolean:
        return f"({text} <=> {pretty(value, scope)})"
    return f"({text} IS NULL)"


def print_paren(node: exp.Paren, scope: Scope) -> str:
    """Parentheses, which leave no trace, or the unary plus the parser keeps as such."""
    text = pretty(node.args["this"], scope)
    return f"(+ {text})" if node.args.get("plus") else text


def print_between(node: exp.Between, scope: Scope) -> str:
    args = node.args
    return f"between({pretty_list((args['this'], args['low'], args['high']), scope)})"


def print_like(node: exp.Expr, scope: Scope) -> str:
    """LIKE and ILIKE; over ANY or ALL the patterns do not show."""
    subject, pattern = node.args["this"], node.args["expression"]
    text = pretty(subject, scope)
    insensitive = node.__class__ is exp.ILike
    if pattern.__class__ in (exp.Any, exp.All):
        name = "likeany" if pattern.__class__ is exp.Any else "likeall"
        text = f"lower({text})" if insensitive else text
        return f"{'not' if node.args.get('negate') else ''}{name}({text})"
    right = pretty(pattern, scope)
    shown = f"ilike({text}, {right})" if insensitive else f"{text} LIKE {right}"
    return f"(NOT {shown})" if node.args.get("negate") else shown


def print_escape(node: exp.Escape, scope: Scope) -> str:
    shown = pretty(node.args["this"], scope)
    if node.args["this"].__class__ is exp.ILike:
        return shown
    return f"{shown} ESCAPE '{pretty(node.args['expression'], scope)}'"


def print_rlike(node: exp.RegexpLike, scope: Scope) -> str:
    shown = f"RLIKE({pretty(node.args['this'], scope)}, {pretty(node.args['expression'], scope)})"
    return f"(NOT {shown})" if node.args.get("negate") else shown


def print_concatenation(node: exp.DPipe, scope: Scope) -> str:
    left, right = _sides(node, scope)
    return f"concat({left}, {right})"


def print_case(node: exp.Case, scope: Scope) -> str:
    args = node.args
    subject = f"({pretty(args['this'], scope)} = " if args.get("this") is not None else ""
    text = "CASE"
    for branch in args.get("ifs") or []:
        condition = pretty(branch.args["this"], scope)
        condition = f"{subject}{condition})" if subject else condition
        text += f" WHEN {condition} THEN {pretty(branch.args['true'], scope)}"
    if args.get("default") is not None:
        text += f" ELSE {pretty(args['default'], scope)}"
    return f"{text} END"


def print_cast(node: exp.Cast, scope: Scope) -> str:
    """A cast the author wrote. One to an array, map or struct does not show."""
    if node.__class__ is exp.Cast:
        literal = cast_literal(node, scope)
        shown = literal_text(literal) if literal is not None else None
        if shown is not None:
            return shown
    text = pretty(node.args["this"], scope)
    target = type_of(node.args["to"])
    if target is None or target.kind in _COMPLEX:
        return text
    word = "TRY_CAST" if node.__class__ is exp.TryCast else "CAST"
    return f"{word}({text} AS {target.text.upper()})"


def print_collate(node: exp.Collate, scope: Scope) -> str:
    return f"collate({pretty(node.args['this'], scope)}, {node.args['expression'].name})"


OPERATOR_PRINTERS: Final[dict[type, Any]] = {
    **dict.fromkeys(_SIGNS, print_binary),
    **dict.fromkeys(_ORDERED, print_ordered_comparison),
    exp.BitwiseRightShift: print_right_shift,
    exp.NEQ: print_unequal,
    exp.NullSafeNEQ: print_distinct_from,
    exp.And: print_logic,
    exp.Or: print_logic,
    exp.Add: print_sum,
    exp.Sub: print_sum,
    exp.Mul: print_product,
    exp.Neg: print_negation,
    exp.BitwiseNot: print_bitwise_not,
    exp.Not: print_not,
    exp.Is: print_is,
    exp.Paren: print_paren,
    exp.Between: print_between,
    exp.Like: print_like,
    exp.ILike: print_like,
    exp.Escape: print_escape,
    exp.RegexpLike: print_rlike,
    exp.DPipe: print_concatenation,
    exp.Case: print_case,
    exp.Cast: print_cast,
    exp.TryCast: print_cast,
    exp.Collate: print_collate,
}
