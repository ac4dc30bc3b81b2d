"""Spark syntax the parser library does not know, said in words it does.

Each rewrite keeps the places of the tokens it touches and changes nothing a type could depend on.
Texts without such syntax pay for one short search each.
"""

import re
from itertools import pairwise
from typing import Final

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from rocky.syntax.kinds import kind_class, kinds_of

# What may have to be said differently, as kinds of tokens: `window(`, CLUSTER BY, TABLE, a keyword
# after a dot.
_WINDOW_CALL: Final = re.compile(
    kind_class([TokenType.WINDOW])
    + kind_class([TokenType.L_PAREN, TokenType.DOT])
    + "|"
    + kind_class([TokenType.CLUSTER_BY])
)
_TABLE_QUERY: Final = re.compile(
    f"{kind_class([TokenType.TABLE])}|^{kind_class([TokenType.VALUES])}"
)
_KEYWORDS: Final = (
    "SELECT FROM WHERE WITH CASE WHEN THEN ELSE END UNION ALL DISTINCT LIMIT VALUES SET HAVING ON "
    "USING IN IS NOT AND OR AS BY GROUP ORDER JOIN LEFT RIGHT FULL INNER CROSS TABLE"
).split()
_DOTTED_KEYWORD: Final = re.compile(
    kind_class([TokenType.DOT])
    + kind_class(
        {Spark.tokenizer_class.KEYWORDS.get(word, TokenType.VAR) for word in _KEYWORDS}
        - {TokenType.VAR}
    )
)
_NEAR: Final = 200
_COMMENT: Final = re.compile(r"--|/\*(?!\+)")
_SPLIT_KEYWORDS: Final = tuple(
    "group order partition within lateral sort distribute cluster primary unique".split()
)
_COMMENT_OR_QUOTED: Final = re.compile(
    r"--[^\n]*|/\*(?!\+).*?\*/|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL
)
_BEFORE_TABLE: Final = frozenset(
    {"UNION", "ALL", "DISTINCT", "EXCEPT", "INTERSECT", "MINUS", "(", "|>"}
)


def as_library_reads(tokens: list[Token], text: str) -> tuple[list[Token], str]:
    """The tokens as the library can parse them, and their kinds."""
    kinds = kinds_of(tokens)
    shift, recursion = ">>>" in text, "recursion" in text.lower()
    window, dotted = _WINDOW_CALL.search(kinds), _DOTTED_KEYWORD.search(kinds)
    table = _TABLE_QUERY.search(kinds)
    if not (shift or recursion or window or dotted or table):
        return tokens, kinds
    if shift:
        tokens = _without_triple_shift(tokens)
    if recursion:
        tokens = _without_recursion_level(tokens)
    if window:
        _free_window(tokens)
    if dotted:
        _free_dotted(tokens)
    if table:
        tokens = _table_as_select(tokens, piped="|>" in text)
    return tokens, kinds_of(tokens)


def without_comments(text: str) -> str:
    """The text with comments blanked where one stands inside a keyword of two words.

    The library knows `GROUP BY` only with white space between. Offsets stay as they are.
    """
    for comment in _COMMENT.finditer(text):
        before = text[max(0, comment.start() - _NEAR) : comment.start()]
        if before.rstrip().lower().endswith(_SPLIT_KEYWORDS):
            return _COMMENT_OR_QUOTED.sub(_blanked, text)
    return text


def _blanked(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] in "'\"`":
        return found
    return "".join("\n" if char == "\n" else " " for char in found)


def _free_dotted(tokens: list[Token]) -> None:
    """A keyword after a dot is a name: `t.select`."""
    for before, token in pairwise(tokens):
        if before.token_type is TokenType.DOT and token.text.isidentifier():
            token.token_type = TokenType.VAR


def _without_triple_shift(tokens: list[Token]) -> list[Token]:
    """`>>>` as `>>`; both give the type of their left side."""
    kept: list[Token] = []
    for token in tokens:
        if (
            token.token_type is TokenType.GT
            and len(kept) > 1
            and all(each.token_type is TokenType.GT for each in kept[-2:])
            and token.start == kept[-1].end + 1 == kept[-2].end + 2
        ):
            continue
        kept.append(token)
    return kept


def _without_recursion_level(tokens: list[Token]) -> list[Token]:
    """`WITH RECURSIVE r MAX RECURSION LEVEL 100 AS`: a bound that says nothing about types."""
    kept: list[Token] = []
    skip = 0
    for index, token in enumerate(tokens):
        words = [each.text.upper() for each in tokens[index : index + 3]]
        if words == ["MAX", "RECURSION", "LEVEL"]:
            skip = 4
        if skip:
            skip -= 1
            continue
        kept.append(token)
    return kept


def _free_window(tokens: list[Token]) -> None:
    """`window(...)` the function is no WINDOW clause; CLUSTER BY in OVER partitions."""
    for index, token in enumerate(tokens[:-1]):
        following = tokens[index + 1].token_type
        if token.token_type is TokenType.WINDOW and following in (TokenType.L_PAREN, TokenType.DOT):
            token.token_type = TokenType.VAR
        elif (
            token.token_type is TokenType.CLUSTER_BY
            and index > 1
            and tokens[index - 2].text.upper() == "OVER"
        ):
            token.token_type = TokenType.PARTITION_BY


def _table_as_select(tokens: list[Token], *, piped: bool) -> list[Token]:
    """`TABLE t` as `SELECT * FROM t`, and VALUES before a pipe as a FROM item."""
    found: list[Token] = []
    for index, token in enumerate(tokens):
        starts = index == 0 or tokens[index - 1].text.upper() in _BEFORE_TABLE
        table = token.token_type is TokenType.TABLE and starts
        if table or (index == 0 and piped and token.token_type is TokenType.VALUES):
            place = (token.line, token.col, token.start, token.end)
            found.append(Token(TokenType.SELECT, "SELECT", *place))
            found.append(Token(TokenType.STAR, "*", *place))
            found.append(Token(TokenType.FROM, "FROM", *place))
            if table:
                continue
        found.append(token)
    return found
