"""The span of any syntax node, found when a finding needs it.

The parser library places identifiers, literals, stars and the names of functions; everything
else spans its leaves. Closing parentheses are found among the tokens.
"""

from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from rocky.source import Span


def span_of(node: exp.Expr, tokens: Sequence[Token]) -> Span | None:
    """The smallest span that holds the node's leaves, and its closing parenthesis if it has one."""
    low, high = _leaf_range(node)
    if high < 0:
        return None
    if isinstance(node, exp.Func | exp.Anonymous | exp.Cast | exp.Window | exp.Paren | exp.Subquery):
        high = max(high, _closing_end(tokens, low, high))
        low = _opening_start(node, tokens, low)
    return Span(low, high + 1)


def first_offset(node: Any) -> int:
    """The offset of some early leaf of a node: cheap, and enough to compare clauses; -1 if none."""
    while node is not None:
        meta = node._meta
        if meta and "start" in meta:
            return int(meta["start"])
        args = node.args
        following = args.get("this")
        if not isinstance(following, exp.Expr):
            listed = args.get("expressions") or args.get("ifs")
            following = listed[0] if listed else args.get("expression")
        node = following if isinstance(following, exp.Expr) else None
    return -1


def _leaf_range(node: exp.Expr) -> tuple[int, int]:
    low, high = 1 << 60, -1
    stack: list[Any] = [node]
    while stack:
        each = stack.pop()
        meta = each._meta
        if meta:
            start = meta.get("start")
            if start is not None:
                low = min(low, start)
                high = max(high, meta["end"])
        for value in each.args.values():
            if isinstance(value, list):
                stack.extend(item for item in value if isinstance(item, exp.Expr))
            elif isinstance(value, exp.Expr):
                stack.append(value)
    return low, high


def _closing_end(tokens: Sequence[Token], low: int, high: int) -> int:
    """The end of the parenthesis that closes what was opened between `low` and `high`."""
    depth = 0
    for token in tokens:
        if token.start < low:
            continue
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
            if token.start > high and depth <= 0:
                return token.end if depth == 0 else high
        elif token.start > high and depth == 0:
            return high
    return high


def _opening_start(node: exp.Expr, tokens: Sequence[Token], low: int) -> int:
    """Where the words before a node's first leaf begin: `CAST(`, `(`, `DATE `."""
    if not isinstance(node, exp.Cast | exp.Paren | exp.Subquery | exp.Func):
        return low
    at = next((index for index, token in enumerate(tokens) if token.start >= low), 0)
    if at and tokens[at - 1].token_type is TokenType.L_PAREN:
        at -= 1
        if isinstance(node, exp.Cast | exp.Func) and at:
            at -= 1
        return min(low, tokens[at].start)
    if isinstance(node, exp.Cast) and at and tokens[at].token_type is TokenType.STRING:
        return tokens[at - 1].start
    return low
