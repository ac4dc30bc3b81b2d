"""Operators between operands and how tightly each binds; the bounds of a window and their order."""

from collections.abc import Sequence
from math import inf
from typing import Final

from rocky.language.dsl.tokens import Token, Unreadable
from rocky.language.dsl.tree import Node

COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=")
TESTS: Final = ("is", "in", "between", "like", "ilike", "rlike", "not")
LOOSEST, NEGATION, COMPARISON, TIGHTEST = 0, 2, 3, 6
_BETWEEN: Final = {"or": 0, "and": 1, **dict.fromkeys(TESTS, COMPARISON)}
_MARKS: Final = {
    **dict.fromkeys((*COMPARISONS, "="), COMPARISON),
    **dict.fromkeys(("+", "-", "||"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}


def precedence(token: Token) -> int:
    """How tightly a token binds as an operator between two operands; -1 when it is none."""
    if token.kind == "mark":
        return _MARKS.get(token.text, -1)
    if token.kind == "word":
        return _BETWEEN.get(token.text, -1)
    return -1


def refuse_mixture(before: Sequence[object], operator: Token) -> None:
    """Raise Unreadable for `||` beside `+` or `-`: few would guess what Spark makes of it."""
    used = [part for part in before if isinstance(part, Token) and part.is_mark("||", "+", "-")]
    if used and (used[0].text == "||") != (operator.text == "||"):
        raise Unreadable(
            f"`{operator.text}` stands beside `{used[0].text}`",
            operator.span,
            "put one of the two into parentheses",
        )


def refuse_open_key(parts: Sequence[Node | Token]) -> None:
    """Raise Unreadable for `-a + b` as a key of `sort`: the minus may be meant for `a` alone."""
    *minus, key = parts
    if not minus or not isinstance(key, Node) or key.form not in ("binary", "test", "negation"):
        return
    operator = next(part for part in key.parts if isinstance(part, Token))
    raise Unreadable(
        f"a key with `-` before it and `{operator.text}` in it",
        operator.span,
        "write `-(...)` for all of it in descending order, or `(-a) + b` for a minus of one value",
    )


def refuse_numbered_key(key: Node) -> None:
    """Raise Unreadable for `sort 1`: in SQL that is the first column, here it would be a value."""
    while key.form in ("group", "minus"):
        key = key.nodes[0]
    if key.form == "literal" and next(key.tokens()).kind == "number":
        raise Unreadable(
            "a number is the same for every row, and sorts none",
            key.span,
            "write the name of a column",
        )


def ends_early(low: Sequence[Token], high: Sequence[Token]) -> bool:
    """Whether a window from one bound to the other would end before it begins."""
    return _distance(low, -inf) > _distance(high, inf)


def _distance(bound: Sequence[Token], open_end: float) -> float:
    """How many rows a bound lies behind the current one."""
    last = bound[-1].text
    if last in ("unbounded", "current"):
        return open_end if last == "unbounded" else 0
    return float(last) * (-1 if len(bound) > 1 else 1)
