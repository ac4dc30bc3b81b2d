"""Spark syntax the parser library does not know, said in words it does.

Each rewrite keeps the places of the tokens it touches and changes nothing a type could depend on.
None may make two texts equal that are not: what the library cannot be told is handed on beside the
tokens. Texts without such syntax pay for one short search each.
"""

import re
from itertools import pairwise
from typing import Final, NamedTuple

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


UNSIGNED: Final = TokenType.PIPE_SLASH
"""The kind the third sign of `>>>` is given: a sign before a value, which Spark has no other of."""

_OPENS_TYPE: Final = frozenset({TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT})


class LibraryTokens(NamedTuple):
    """The tokens as the library can parse them, and their kinds.

    `levels` are the bounds of recursions, which it cannot read: how many tokens stand before each,
    and what it says.
    """

    tokens: list[Token]
    kinds: str
    levels: tuple[tuple[int, str], ...] = ()


def as_library_reads(tokens: list[Token], text: str) -> LibraryTokens:
    """The tokens of a text, said in words that the library knows."""
    kinds = kinds_of(tokens)
    shift, recursion = ">>>" in text, "recursion" in text.lower()
    window, dotted = _WINDOW_CALL.search(kinds), _DOTTED_KEYWORD.search(kinds)
    table = _TABLE_QUERY.search(kinds)
    if not (shift or recursion or window or dotted or table):
        return LibraryTokens(tokens, kinds)
    levels: tuple[tuple[int, str], ...] = ()
    if shift:
        tokens = _with_unsigned_shift(tokens)
    if recursion:
        tokens, levels = _without_recursion_level(tokens)
    if window:
        _free_window(tokens)
    if dotted:
        _free_dotted(tokens)
    if table:
        tokens = _table_as_select(tokens, piped="|>" in text)
    return LibraryTokens(tokens, kinds_of(tokens), levels)


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


def _with_unsigned_shift(tokens: list[Token]) -> list[Token]:
    """`>>>` as `>>` and a sign before what stands to its right. Those of types stay."""
    made: list[Token] = []
    types = 0
    for token in tokens:
        kind = token.token_type
        before = made[-1].token_type if made else None
        if kind is TokenType.LT and (types or before in _OPENS_TYPE):
            types += 1
        elif kind is TokenType.GT and types:
            types -= 1
        elif (
            kind is TokenType.GT
            and len(made) > 1
            and all(each.token_type is TokenType.GT for each in made[-2:])
            and token.start == made[-1].end + 1 == made[-2].end + 2
        ):
            place = (token.line, token.col, token.start, token.end)
            made.append(Token(UNSIGNED, token.text, *place))
            continue
        made.append(token)
    return made


def _without_recursion_level(
    tokens: list[Token],
) -> tuple[list[Token], tuple[tuple[int, str], ...]]:
    """`WITH RECURSIVE r MAX RECURSION LEVEL 100 AS`: a bound that says nothing about types."""
    kept: list[Token] = []
    levels: list[tuple[int, str]] = []
    skip = 0
    for index, token in enumerate(tokens):
        words = [each.text.upper() for each in tokens[index : index + 4]]
        if words[:3] == ["MAX", "RECURSION", "LEVEL"]:
            skip = 4
            levels.append((len(kept), words[-1]))
        if skip:
            skip -= 1
            continue
        kept.append(token)
    return kept, tuple(levels)


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
