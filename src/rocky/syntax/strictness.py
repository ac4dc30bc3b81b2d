"""Texts the parser library takes although Spark does not: commas, aliases and IS out of place.

A search over the kinds of the tokens finds suspects at the speed of C; only then is each looked at.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from sqlglot.tokens import Token, TokenType

from rocky.source import Span
from rocky.syntax.kinds import kind_class

_CLAUSES: Final = frozenset(
    {TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.HAVING}
)
_AFTER_COMMA: Final = _CLAUSES | {TokenType.COMMA, TokenType.R_PAREN, TokenType.R_BRACKET}
_AFTER_IS: Final = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT", "NOT"})


_SUSPECT: Final = re.compile(
    "|".join(
        (
            kind_class([TokenType.COMMA]) + kind_class(_AFTER_COMMA),
            kind_class([TokenType.L_PAREN, TokenType.SELECT]) + kind_class([TokenType.COMMA]),
            kind_class([TokenType.ALIAS]) + kind_class([TokenType.STRING, TokenType.COMMA]),
            kind_class([TokenType.IS])
            + kind_class(
                [
                    TokenType.NULL,
                    TokenType.TRUE,
                    TokenType.FALSE,
                    TokenType.UNKNOWN,
                    TokenType.DISTINCT,
                    TokenType.NOT,
                ],
                negated=True,
            ),
        )
    )
)


class Misplaced(NamedTuple):
    """A token that cannot stand where it does."""

    message: str
    span: Span
    condition: str
    help: str | None


def misplaced_token(tokens: Sequence[Token], kinds: str, text: str) -> Misplaced | None:
    """The first token Spark's grammar has no place for, of the kinds looked for here."""
    if not text.isascii():
        foreign = _beyond_ascii(tokens)
        if foreign is not None:
            return foreign
    if _SUSPECT.search(kinds) is None:
        return None
    for before, token in pairwise(tokens):
        found = _judge(before, token)
        if found is not None:
            return found
    return None


def _beyond_ascii(tokens: Sequence[Token]) -> Misplaced | None:
    for token in tokens:
        if token.token_type is TokenType.VAR and not token.text.isascii():
            return Misplaced(
                f"the name `{token.text}` has letters that need quoting",
                _span(token),
                "INVALID_IDENTIFIER",
                "write it in backticks",
            )
    return None


def _judge(before: Token, token: Token) -> Misplaced | None:
    kind, following = before.token_type, token.token_type
    if kind is TokenType.COMMA and following in _AFTER_COMMA:
        condition = "TRAILING_COMMA_IN_SELECT" if following in _CLAUSES else "PARSE_SYNTAX_ERROR"
        return Misplaced(
            "a comma with nothing after it", _span(before), condition, "remove the comma"
        )
    if following is TokenType.COMMA and kind in (TokenType.L_PAREN, TokenType.SELECT):
        return Misplaced(
            "a comma with nothing before it", _span(token), "PARSE_SYNTAX_ERROR", "remove the comma"
        )
    if kind is TokenType.ALIAS and following is TokenType.STRING:
        return Misplaced(
            "an alias is a name, not a string",
            _span(token),
            "PARSE_SYNTAX_ERROR",
            f"write it without quotes, or in backticks: `` `{token.text}` ``",
        )
    if kind is TokenType.ALIAS and following is TokenType.COMMA:
        return Misplaced(
            "an alias is missing after AS", _span(before), "PARSE_SYNTAX_ERROR", "name the column"
        )
    if kind is TokenType.IS and token.text.upper() not in _AFTER_IS:
        return Misplaced(
            f"IS cannot be followed by `{token.text}`",
            _span(token),
            "PARSE_SYNTAX_ERROR",
            "use `=`, or IS [NOT] NULL, TRUE, FALSE or DISTINCT FROM",
        )
    return None


def _span(token: Token) -> Span:
    return Span(token.start, token.end + 1)
