"""Mentions: the bare names in a query, and whether it names every column it reads.

Asked of the tokens and not of the tree, because a name that a tree leaves out must count as well.
Where a query could read a column without naming it, the answer is None.
"""

from collections.abc import Sequence
from typing import Final

from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from rocky.syntax.dialect import TOKENIZER, spark_settings
from rocky.syntax.rewrites import without_comments

_WHOLESALE: Final = frozenset(
    {
        "NATURAL",
        "PIVOT",
        "UNPIVOT",
        "TABLE",
        "TABLESAMPLE",
        "TRANSFORM",
        "RECURSIVE",
        "IDENTIFIER",
        "|>",
    }
)
"""Words with which a query takes columns as they come, or names them in a text."""

_OPERANDS: Final = frozenset(
    {
        TokenType.VAR,
        TokenType.IDENTIFIER,
        TokenType.NUMBER,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
        TokenType.END,
    }
)
_AFTER_STAR: Final = frozenset(
    {TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM, TokenType.EXCEPT}
)
_BEFORE_BARE_FROM: Final = frozenset({"(", "UNION", "INTERSECT", "EXCEPT", "MINUS", "ALL"})
_LITERALS: Final = frozenset({TokenType.STRING, TokenType.NUMBER})


def bare_names(sql: str) -> frozenset[str] | None:
    """The names without a qualifier in a query, in lower case, and its keywords among them.

    None when the query may read columns that it does not name. Calls and names after AS, which are
    definitions, are left out.
    """
    try:
        with spark_settings():
            tokens = TOKENIZER.tokenize(without_comments(sql))
    except TokenError:
        return None
    names: set[str] = set()
    for at, token in enumerate(tokens):
        if _is_wholesale(tokens, at):
            return None
        if (
            token.token_type not in _LITERALS
            and _kind(tokens, at - 1) not in (TokenType.DOT, TokenType.ALIAS)
            and _kind(tokens, at + 1) is not TokenType.L_PAREN
        ):
            names.add(token.text.lower())
    return frozenset(names)


def _is_wholesale(tokens: Sequence[Token], at: int) -> bool:
    """Whether columns may be read here that are not named."""
    token = tokens[at]
    if token.token_type is TokenType.STAR:
        return not (_counts(tokens, at) or _multiplies(tokens, at))
    if token.token_type is TokenType.FROM:
        # Without a SELECT, all columns.
        return at == 0 or tokens[at - 1].text.upper() in _BEFORE_BARE_FROM
    return token.token_type not in _LITERALS and token.text.upper() in _WHOLESALE


def _counts(tokens: Sequence[Token], at: int) -> bool:
    """Whether a star is that of `count(*)`."""
    return (
        at >= 2
        and tokens[at - 2].text.lower() == "count"
        and _kind(tokens, at - 1) is TokenType.L_PAREN
        and _kind(tokens, at + 1) is TokenType.R_PAREN
    )


def _multiplies(tokens: Sequence[Token], at: int) -> bool:
    following = _kind(tokens, at + 1)
    return (
        _kind(tokens, at - 1) in _OPERANDS
        and following is not None
        and following not in _AFTER_STAR
    )


def _kind(tokens: Sequence[Token], at: int) -> TokenType | None:
    return tokens[at].token_type if 0 <= at < len(tokens) else None
