"""The span of any syntax node, found when a finding needs it.

The parser library places identifiers, literals, stars and the names of functions; everything
else spans its leaves. Parentheses and the words that open or close a node (`CAST(`, `OVER (...)`,
`FILTER (...)`) are found among the tokens.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from rocky.source import Span

_OPENING_WORDS: Final = frozenset({"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "SUBSTR"})
_CALLS: Final = (exp.Func, exp.Anonymous)
_FOLLOWED: Final = (exp.Window, exp.Filter, exp.WithinGroup)


def span_of(node: exp.Expr, tokens: Sequence[Token]) -> Span | None:
    """The place of a node: its leaves, and the words and parentheses that belong to it."""
    low, high = _leaf_range(node)
    if high < 0:
        return None
    if isinstance(node, _FOLLOWED):
        return _followed_span(node, tokens, low, high)
    own = node._meta.get("start") if node._meta else None
    if own is not None and isinstance(node, _CALLS):
        close = _closing_after(tokens, own)
        return Span(low, max(high, close) + 1)
    if isinstance(node, exp.In):
        return _in_span(tokens, low, high)
    if isinstance(node, exp.Case):
        return _case_span(tokens, low, high)
    if isinstance(node, exp.Cast | exp.Func):
        return _worded_span(tokens, low, high)
    if isinstance(node, exp.Paren | exp.Subquery):
        at = _index_at(tokens, low) - 1
        if at >= 0 and tokens[at].token_type is TokenType.L_PAREN:
            return Span(tokens[at].start, max(high, _match(tokens, at)) + 1)
    return Span(low, high + 1)


def _index_at(tokens: Sequence[Token], offset: int) -> int:
    """The index of the token that starts at or after an offset."""
    return bisect_left(tokens, offset, key=lambda token: token.start)


def _match(tokens: Sequence[Token], at: int) -> int:
    """The end offset of the parenthesis that closes the one at index `at`; -1 if none does."""
    depth = 0
    for token in tokens[at:]:
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return token.end
    return -1


def _closing_after(tokens: Sequence[Token], name: int) -> int:
    """The end of the argument list that follows the function name at an offset."""
    at = _index_at(tokens, name) + 1
    if at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
        return _match(tokens, at)
    return -1


def _in_span(tokens: Sequence[Token], low: int, high: int) -> Span:
    """`value IN (...)` with the closing parenthesis of its list or subquery."""
    for index in range(_index_at(tokens, low), len(tokens) - 1):
        if tokens[index].start > high:
            break
        if tokens[index].text.upper() == "IN" and tokens[index + 1].token_type is TokenType.L_PAREN:
            return Span(low, max(high, _match(tokens, index + 1)) + 1)
    return Span(low, high + 1)


def _case_span(tokens: Sequence[Token], low: int, high: int) -> Span:
    """`CASE ... END` with both words; CASEs inside it are counted past."""
    start = _index_at(tokens, low)
    while start >= 0 and (start >= len(tokens) or tokens[start].text.upper() != "CASE"):
        start -= 1
    if start < 0:
        return Span(low, high + 1)
    depth = 0
    for token in tokens[start:]:
        word = token.text.upper()
        depth += (word == "CASE") - (word == "END")
        if depth == 0:
            return Span(tokens[start].start, max(high, token.end) + 1)
    return Span(tokens[start].start, high + 1)


def _worded_span(tokens: Sequence[Token], low: int, high: int) -> Span:
    """`CAST(value AS type)` and its like from their first word; `DATE '...'` from its type."""
    at = _index_at(tokens, low)
    if at > 1 and tokens[at - 1].token_type is TokenType.L_PAREN:
        word = tokens[at - 2]
        if word.text.upper() in _OPENING_WORDS:
            return Span(word.start, max(high, _match(tokens, at - 1)) + 1)
    if at and at < len(tokens) and tokens[at].token_type is TokenType.STRING:
        before = tokens[at - 1]
        if before.text.upper() in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME"):
            return Span(before.start, high + 1)
    return Span(low, high + 1)


def _followed_span(node: Any, tokens: Sequence[Token], low: int, high: int) -> Span:
    """A call with what is written after it: `OVER (...)`, `FILTER (...)`, `WITHIN GROUP (...)`."""
    inner = span_of(node.args["this"], tokens)
    end = max(high + 1, inner.end if inner is not None else 0)
    start = min(low, inner.start if inner is not None else low)
    # The clause opens at the first parenthesis after the call.
    at = bisect_right(tokens, inner.end - 1 if inner is not None else high, key=lambda t: t.start)
    for index in range(at, min(at + 4, len(tokens))):
        if tokens[index].token_type is TokenType.L_PAREN:
            return Span(start, max(end, _match(tokens, index) + 1))
    return Span(start, end)


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
