"""The tokens of a text before it is parsed: Spark syntax rewritten, and texts Spark would refuse.

What the library does not know is said in words it does, at the same places; no rewrite makes two
texts equal that are not. What the library takes and Spark does not (commas, aliases and IS out of
place) is found as well. Both search the tokens' kinds as a string, one character a token: that
runs at the speed of C and raises no false alarm over strings or comments.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from sqlglot.dialects.spark import Spark
from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.types import MAX_DEPTH
from rocky.language.quotes import (
    blank,
    find_comments,
    find_quotes,
    on_one_line,
    without_inner_hints,
)
from rocky.language.syntax.interval_tokens import has_signed_part, with_signed_parts
from rocky.language.syntax.pipe_tokens import with_plain_pipes

_kind: Final = attrgetter("token_type")
# Made once: `chr` makes a new string of each letter beyond Latin-1.
_character_of: Final = [chr(kind) for kind in range(max(TokenType) + 1)].__getitem__


def kinds_of(tokens: Sequence[Token]) -> str:
    """One character for the kind of each token."""
    return "".join(map(_character_of, map(_kind, tokens)))


def kind_class(kinds: Iterable[TokenType], *, negated: bool = False) -> str:
    """A regular expression for one token of, or not of, some kinds."""
    return f"[{'^' if negated else ''}{''.join(re.escape(chr(kind)) for kind in kinds)}]"


_NO_NAMES: Final = (TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DOT)
# What may have to be said differently, as kinds of tokens: a `window` that opens no clause, CLUSTER
# BY, TABLE, a keyword after a dot, a column called `all`.
_WINDOW_NAME: Final = re.compile(
    f"{kind_class([TokenType.WINDOW])}"
    f"(?!{kind_class(_NO_NAMES, negated=True)}{kind_class([TokenType.ALIAS])})"
    f"|{kind_class([TokenType.CLUSTER_BY])}"
)
_ALL_COLUMN: Final = re.compile(
    kind_class([TokenType.SELECT])
    + kind_class([TokenType.ALL])
    + kind_class([TokenType.COMMA, TokenType.FROM, TokenType.ALIAS])
)
_FROM_ALIAS: Final = re.compile(kind_class([TokenType.FROM]) * 2)
_TABLE, _VALUES = chr(TokenType.TABLE), chr(TokenType.VALUES)
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
_SPLIT_KEYWORDS: Final = tuple(
    "group order partition within lateral sort distribute cluster primary unique".split()
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


def rewrite_tokens(tokens: list[Token], text: str) -> LibraryTokens:
    """The tokens of a text, said in words that the library knows."""
    kinds = kinds_of(tokens)
    shift, recursion = ">>>" in text, "recursion" in text.lower()
    window, dotted = _WINDOW_NAME.search(kinds), _DOTTED_KEYWORD.search(kinds)
    table, named_all = _TABLE in kinds or kinds.startswith(_VALUES), _ALL_COLUMN.search(kinds)
    named_from = _FROM_ALIAS.search(kinds)
    signed, piped = has_signed_part(kinds, text), chr(TokenType.PIPE_GT) in kinds
    named = named_all or named_from
    if not (shift or recursion or window or dotted or table or named or signed or piped):
        return LibraryTokens(tokens, kinds)
    for match in _FROM_ALIAS.finditer(kinds) if named_from else ():
        # `SELECT id FROM FROM t`: the first is the name of the column.
        tokens[match.start()].token_type = TokenType.VAR
    for match in _ALL_COLUMN.finditer(kinds) if named_all else ():
        tokens[match.start() + 1].token_type = TokenType.VAR
    levels: tuple[tuple[int, str], ...] = ()
    if shift:
        tokens = _with_unsigned_shift(tokens)
    if signed:
        tokens = with_signed_parts(tokens)
    if piped:
        tokens = with_plain_pipes(tokens, kinds)
    if recursion:
        tokens, levels = _without_recursion_level(tokens)
    if window:
        _free_window(tokens)
    if dotted:
        _free_dotted(tokens)
    if table:
        tokens = _table_as_select(tokens, piped="|>" in text)
    return LibraryTokens(tokens, kinds_of(tokens), levels)


def deep_type(tokens: Sequence[Token], text: str) -> tuple[str, Span] | None:
    """What to say of the first type that nests too deeply, and where it opens.

    The library tries each level several times over, so such a text is never given to it.
    """
    if text.count("<") <= MAX_DEPTH:
        return None
    opened: list[Token] = []
    for before, token in pairwise(tokens):
        kind = token.token_type
        if kind is TokenType.LT and before.token_type in _OPENS_TYPE:
            opened.append(before)
            if len(opened) > MAX_DEPTH:
                span = Span(opened[0].start, opened[0].end + 1)
                return f"this type nests deeper than {MAX_DEPTH} levels", span
        elif opened and kind is TokenType.GT:
            opened.pop()
        elif opened and kind is TokenType.SEMICOLON:
            opened.clear()
    return None


_LONGEST_INTERVAL: Final = 1_000
_INTERVAL: Final = chr(TokenType.INTERVAL)


def long_interval(tokens: Sequence[Token], kinds: str) -> tuple[str, Span] | None:
    """What to say of an interval whose text no interval has, and where it is.

    The library searches such a text from each of its characters to the end.
    """
    at = kinds.find(_INTERVAL)
    while at >= 0:
        for value in tokens[at + 1 : at + 3]:
            if value.end - value.start > _LONGEST_INTERVAL:
                span = Span(value.start, value.end + 1)
                return f"an interval of more than {_LONGEST_INTERVAL:,} characters", span
        at = kinds.find(_INTERVAL, at + 1)
    return None


def without_comments(text: str) -> str:
    """The text with comments blanked where one stands inside a keyword of two words.

    The library knows `GROUP BY` only with white space between, and a comment `-- ...` only to the
    end of its line. Offsets stay as they are.
    """
    text = without_inner_hints(on_one_line(text))
    # Strings are searched: an expression with both marks in it would take five times as long.
    for mark in ("--", "/*"):
        at = text.find(mark)
        while at >= 0:
            before = text[max(0, at - _NEAR) : at].rstrip().lower()
            if before.endswith(_SPLIT_KEYWORDS) and not text.startswith("/*+", at):
                return blank(text, find_comments(text))
            at = text.find(mark, at + 2)
    return text


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
        if words[:3] == ["MAX", "RECURSION", "LEVEL"] and words[-1].isdigit():
            skip = 4
            levels.append((len(kept), words[-1]))
        if skip:
            skip -= 1
            continue
        kept.append(token)
    return kept, tuple(levels)


def _free_window(tokens: list[Token]) -> None:
    """Any `window` but in `WINDOW name AS` is a name; CLUSTER BY in OVER partitions."""
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.WINDOW:
            after = [each.token_type for each in tokens[index + 1 : index + 3]]
            if after[1:] != [TokenType.ALIAS] or after[0] in _NO_NAMES:
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


class MisplacedToken(NamedTuple):
    """A token that cannot stand where it does."""

    message: str
    span: Span
    condition: str
    help: str | None


def misplaced_token(tokens: Sequence[Token], kinds: str, text: str) -> MisplacedToken | None:
    """The first token Spark's grammar has no place for, of the kinds looked for here."""
    if not text.isascii():
        foreign = _beyond_ascii(tokens)
        if foreign is not None:
            return foreign
    hint = _misplaced_hint(tokens, text) if "/*+" in text else None
    if hint is not None:
        return hint
    if _SUSPECT.search(kinds) is None:
        return None
    for before, token in pairwise(tokens):
        found = _judge(before, token)
        if found is not None:
            return found
    return None


def _misplaced_hint(tokens: Sequence[Token], text: str) -> MisplacedToken | None:
    """The first hint that does not stand behind SELECT; the library takes it for a comment."""
    ended = -1
    for kind, span in find_quotes(text):
        if kind == "comment" and not text[ended : span.start].strip():
            ended = span.end if ended >= 0 else ended
        if kind != "hint":
            continue
        at = bisect_left(tokens, span.start, key=lambda token: token.start)
        behind = at > 0 and tokens[at - 1].token_type is TokenType.SELECT
        if not behind and (ended < 0 or text[ended : span.start].strip()):
            return MisplacedToken(
                "a hint stands where none is read",
                span,
                "PARSE_SYNTAX_ERROR",
                "hints stand right behind SELECT; a comment begins with `/*` and a space",
            )
        ended = span.end
    return None


def _beyond_ascii(tokens: Sequence[Token]) -> MisplacedToken | None:
    for token in tokens:
        if token.token_type is TokenType.VAR and not token.text.isascii():
            return MisplacedToken(
                f"the name `{token.text}` has letters that need quoting",
                _span(token),
                "INVALID_IDENTIFIER",
                "write it in backticks",
            )
    return None


def _judge(before: Token, token: Token) -> MisplacedToken | None:
    kind, following = before.token_type, token.token_type
    if kind is TokenType.COMMA and following in _AFTER_COMMA:
        condition = "TRAILING_COMMA_IN_SELECT" if following in _CLAUSES else "PARSE_SYNTAX_ERROR"
        return MisplacedToken(
            "a comma with nothing after it", _span(before), condition, "remove the comma"
        )
    if following is TokenType.COMMA and kind in (TokenType.L_PAREN, TokenType.SELECT):
        return MisplacedToken(
            "a comma with nothing before it", _span(token), "PARSE_SYNTAX_ERROR", "remove the comma"
        )
    if kind is TokenType.ALIAS and following is TokenType.STRING:
        return MisplacedToken(
            "an alias is a name, not a string",
            _span(token),
            "PARSE_SYNTAX_ERROR",
            f"write it without quotes, or in backticks: `` `{token.text}` ``",
        )
    if kind is TokenType.ALIAS and following is TokenType.COMMA:
        return MisplacedToken(
            "an alias is missing after AS", _span(before), "PARSE_SYNTAX_ERROR", "name the column"
        )
    if kind is TokenType.IS and token.text.upper() not in _AFTER_IS:
        return MisplacedToken(
            f"IS cannot be followed by `{token.text}`",
            _span(token),
            "PARSE_SYNTAX_ERROR",
            "use `=`, or IS [NOT] NULL, TRUE, FALSE or DISTINCT FROM",
        )
    return None


def _span(token: Token) -> Span:
    return Span(token.start, token.end + 1)
