"""PIVOT over expressions: `PIVOT (sum(a) / count(*) FOR ...)`, which the library does not read.

It takes a call there and nothing else, so an expression is put into a call of a name that nobody
writes, and taken out of the tree again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

_WRAPPER: Final = "the value of a pivot"
_SUFFIXES: Final = frozenset({"FILTER", "WITHIN", "WITHIN GROUP", "OVER", "IGNORE", "RESPECT"})


def wrap_pivots(tokens: list[Token]) -> list[Token] | None:
    """The tokens with expressions of PIVOT inside calls; None when there is none to wrap."""
    starts: set[int] = set()
    ends: set[int] = set()
    for at, token in enumerate(tokens[:-1]):
        if token.token_type is TokenType.PIVOT and _opens(tokens[at + 1]):
            for start, end in _items(tokens, at + 2):
                end = _without_alias(tokens, start, end)  # noqa: PLW2901 - the item without its name
                if end > start and not _is_call(tokens, start, end):
                    starts.add(start)
                    ends.add(end)
    if not starts:
        return None
    made: list[Token] = []
    for at, token in enumerate(tokens):
        if at in ends:
            made.append(_like(token, TokenType.R_PAREN, ")"))
        if at in starts:
            made.append(_like(token, TokenType.VAR, _WRAPPER))
            made.append(_like(token, TokenType.L_PAREN, "("))
        made.append(token)
    return made


def unwrap_pivots(trees: Iterable[exp.Expr | None]) -> None:
    """Take the wrapped expressions out of their calls again."""
    for tree in trees:
        if tree is None:
            continue
        for pivot in list(tree.find_all(exp.Pivot)):
            for call in list(pivot.find_all(exp.Anonymous)):
                if call.args["this"] == _WRAPPER:
                    call.replace(exp.Paren(this=call.args["expressions"][0]))


def _opens(token: Token) -> bool:
    return token.token_type is TokenType.L_PAREN


def _depth(token: Token) -> int:
    return _opens(token) - (token.token_type is TokenType.R_PAREN)


def _items(tokens: Sequence[Token], start: int) -> Iterator[tuple[int, int]]:
    """The aggregates before FOR, each from its first token to the one after its last."""
    depth = 0
    begin = start
    for at in range(start, len(tokens)):
        kind = tokens[at].token_type
        depth += _depth(tokens[at])
        if depth < 0:
            return
        if depth == 0 and kind in (TokenType.FOR, TokenType.COMMA):
            yield begin, at
            begin = at + 1
            if kind is TokenType.FOR:
                return


def _without_alias(tokens: Sequence[Token], start: int, end: int) -> int:
    """Where an item ends that may be followed by a name, with AS or without."""
    if end - start > 1 and tokens[end - 2].token_type is TokenType.ALIAS:
        return end - 2
    named = tokens[end - 1].token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    if named and end - start > 1 and tokens[end - 2].token_type is TokenType.R_PAREN:
        return end - 1
    return end


def _is_call(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether an item is one call, perhaps with FILTER, WITHIN GROUP or OVER after it."""
    if end - start < 2 or not _opens(tokens[start + 1]):
        # A plain name, which the library refuses as Spark does.
        return end - start == 1 and tokens[start].token_type is not TokenType.NUMBER
    depth = 0
    for at in range(start + 1, end):
        depth += _depth(tokens[at])
        if depth == 0:
            return at + 1 == end or tokens[at + 1].text.upper() in _SUFFIXES
    return True


def _like(token: Token, kind: Any, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)
