"""Forms of other dialects that the library reads and Spark's grammar does not have.

They are found among the tokens, since the tree has lost them: `USING (t.a)` and `USING ()`, an
EXCEPT list of other things than names, `= ANY (SELECT ...)`.
"""

import re
from collections.abc import Sequence
from typing import Final

from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span


def _one(*kinds: TokenType) -> str:
    return f"[{''.join(re.escape(chr(kind)) for kind in kinds)}]"


_OPEN, _CLOSE = _one(TokenType.L_PAREN), _one(TokenType.R_PAREN)
_COMPARED: Final = _one(
    TokenType.EQ,
    TokenType.NEQ,
    TokenType.GT,
    TokenType.GTE,
    TokenType.LT,
    TokenType.LTE,
    TokenType.LIKE,
    TokenType.ILIKE,
)
_FORMS: Final = (
    (
        re.compile(f"{_one(TokenType.USING)}{_one(TokenType.VAR, TokenType.IDENTIFIER)}"),
        "the columns of USING stand in parentheses",
        "write `USING (a, b)`",
    ),
    (
        re.compile(f"{_one(TokenType.USING)}{_OPEN}{_CLOSE}"),
        "USING names no column",
        "name the columns both sides have",
    ),
    (
        re.compile(
            f"{_one(TokenType.USING)}{_OPEN}[^{re.escape(chr(TokenType.R_PAREN))}]*?"
            f"{_one(TokenType.DOT, TokenType.NUMBER, TokenType.STRING)}"
        ),
        "USING takes names of columns that both sides have, without a qualifier",
        "write the name alone, or use ON",
    ),
    (
        re.compile(f"{_one(TokenType.EXCEPT)}{_OPEN}{_CLOSE}"),
        "EXCEPT names no column",
        "name the columns to leave out",
    ),
    (
        re.compile(
            f"{_one(TokenType.EXCEPT)}{_OPEN}"
            f"(?:{_one(TokenType.STRING, TokenType.NUMBER)}|{_one(TokenType.VAR)}{_OPEN})"
        ),
        "EXCEPT takes names of columns, not values",
        "name the columns to leave out",
    ),
    (
        re.compile(
            f"{_COMPARED}{_one(TokenType.ANY, TokenType.ALL, TokenType.SOME)}{_OPEN}"
            f"{_one(TokenType.SELECT, TokenType.WITH)}"
        ),
        "Spark does not compare with ANY or ALL of a subquery",
        "use IN or EXISTS, or compare with `min` or `max` of it",
    ),
)
# One class of kinds is looked for much faster than alternatives are, and most texts have none.
_WORDS: Final = re.compile(
    _one(TokenType.USING, TokenType.EXCEPT, TokenType.ANY, TokenType.ALL, TokenType.SOME)
)
_SUSPECT: Final = re.compile(
    f"{_one(TokenType.USING, TokenType.EXCEPT)}"
    f"|{_one(TokenType.ANY, TokenType.ALL, TokenType.SOME)}{_OPEN}"
)


def foreign_form(tokens: Sequence[Token], kinds: str) -> tuple[str, Span, str, str] | None:
    """The first such form: what is wrong, where, Spark's condition, and what to write."""
    if _WORDS.search(kinds) is None or _SUSPECT.search(kinds) is None:
        return None
    for form, message, way in _FORMS:
        found = form.search(kinds)
        if found is not None:
            span = Span(tokens[found.start()].start, tokens[found.end() - 1].end + 1)
            return message, span, "PARSE_SYNTAX_ERROR", way
    return None
