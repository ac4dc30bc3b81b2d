"""Pipes among the tokens, where the library reads `|>` in another way than Spark.

A step with nothing in it is no step. `JOIN LATERAL (...) t |>` ends a join, while the library goes
on with the pipe inside the lateral subquery; a condition that is always true ends the join for it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from sqlglot.tokens import Token, TokenType

_ENDS_STEP: Final = (TokenType.PIPE_GT, TokenType.R_PAREN, TokenType.SEMICOLON)


def with_plain_pipes(tokens: list[Token], kinds: str) -> list[Token]:
    """The tokens without empty steps, and with a condition on each lateral join before a pipe."""
    kept = [
        token
        for token, following in pairwise([*tokens, None])
        if token is not None
        and not (
            token.token_type is TokenType.PIPE_GT
            and (following is None or following.token_type in _ENDS_STEP)
        )
    ]
    return _with_conditions(kept) if chr(TokenType.LATERAL) in kinds else kept


def _with_conditions(tokens: list[Token]) -> list[Token]:
    ends = {
        _end_of_item(tokens, at + 1)
        for at, token in enumerate(tokens)
        if token.token_type is TokenType.LATERAL
        and at
        and tokens[at - 1].token_type in (TokenType.JOIN, TokenType.COMMA)
    }
    commas = {
        at
        for at, (token, following) in enumerate(pairwise(tokens))
        if token.token_type is TokenType.COMMA
        and following.token_type is TokenType.LATERAL
        and _end_of_item(tokens, at + 2) in ends
    }
    made: list[Token] = []
    for at, token in enumerate(tokens):
        if at in commas and tokens[min(_end_of_item(tokens, at + 2), len(tokens) - 1)].text == "|>":
            place = (token.line, token.col, token.start, token.end)
            made.append(Token(TokenType.JOIN, "JOIN", *place))
            continue
        if at in ends and token.token_type is TokenType.PIPE_GT:
            place = (token.line, token.col, token.start, token.start)
            made.append(Token(TokenType.ON, "ON", *place))
            made.append(Token(TokenType.TRUE, "TRUE", *place))
        made.append(token)
    return made


def _end_of_item(tokens: Sequence[Token], at: int) -> int:
    """The index after `(...) [AS] name [(columns)]`; -1 when no parenthesis opens there."""
    if at >= len(tokens) or tokens[at].token_type is not TokenType.L_PAREN:
        return -1
    at = _after_parentheses(tokens, at)
    while at < len(tokens) and tokens[at].token_type in (
        TokenType.ALIAS,
        TokenType.VAR,
        TokenType.IDENTIFIER,
    ):
        at += 1
    if at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
        at = _after_parentheses(tokens, at)
    return at


def _after_parentheses(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for index in range(at, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if not depth:
            return index + 1
    return len(tokens)
