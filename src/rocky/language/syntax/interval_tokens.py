"""Intervals of several units among the tokens: `INTERVAL 1 DAY -2 HOURS` is one literal to Spark.

The library reads a sign after a unit as arithmetic. Said as `+ INTERVAL -2 HOURS` it is what Spark
means. A range such as `HOUR TO MINUTE` can be no part of such a literal.
"""

from collections.abc import Sequence
from typing import Final

from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span

_UNITS: Final = frozenset(
    f"{unit}{ending}"
    for unit in "YEAR MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND".split()
    for ending in ("", "S")
)
_SIGNS: Final = (TokenType.DASH, TokenType.PLUS)
_VALUES: Final = (TokenType.NUMBER, TokenType.STRING)


def has_signed_part(kinds: str, text: str) -> bool:
    """Whether a text may hold an interval of several units: cheap, and true too often."""
    return chr(TokenType.INTERVAL) in kinds and any(sign in text for sign in "+-")


def with_signed_parts(tokens: list[Token]) -> list[Token]:
    """The tokens with each further part of an interval as an interval that is added."""
    made: list[Token] = []
    end = -1
    for at, token in enumerate(tokens):
        if token.token_type is TokenType.INTERVAL:
            end = _part_end(tokens, at + 1)
        elif at == end:
            end = _part_end(tokens, at)
            if end > at and token.token_type in _SIGNS:
                place = (token.line, token.col, token.start, token.end)
                made.append(Token(TokenType.PLUS, "+", *place))
                made.append(Token(TokenType.INTERVAL, "INTERVAL", *place))
        made.append(token)
    return made


def _part_end(tokens: Sequence[Token], at: int) -> int:
    """The index after `[sign] value unit`; -1 when no such part stands there."""
    if at < len(tokens) and tokens[at].token_type in _SIGNS:
        at += 1
    if at + 1 >= len(tokens) or tokens[at].token_type not in _VALUES:
        return -1
    if tokens[at + 1].text.upper() not in _UNITS:
        return -1
    return at + 2


def range_in_units(tokens: Sequence[Token]) -> Span | None:
    """Where `HOUR TO MINUTE` and its like stand among the units of one interval."""
    for at, token in enumerate(tokens):
        if token.token_type is not TokenType.INTERVAL:
            continue
        parts, last, end = 0, 0, _part_end(tokens, at + 1)
        while end > 0:
            parts += 1
            last, end = end, _part_end(tokens, end)
        if parts > 1 and last < len(tokens) and tokens[last].text.upper() == "TO":
            return Span(token.start, tokens[last].end + 1)
    return None
