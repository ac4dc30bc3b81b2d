"""Constructs: forms of Spark SQL that its tokens alone give away, under the names of a table.

The names are those of `dialects/constructs.tsv`, which says of each what other engines
make of it. One search over the kinds of the tokens finds out that most queries have none. Forms
that need types (`a / b` of two integers) are noted by the binder.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span
from rocky.language.syntax.parser import ParsedQuery

T = TokenType


def _any(*kinds: TokenType) -> str:
    return f"[{''.join(re.escape(chr(kind)) for kind in kinds)}]"


def _run(*kinds: TokenType) -> str:
    return "".join(re.escape(chr(kind)) for kind in kinds)


# Each by the kinds of its tokens, in order; those that begin alike have the longer one first.
_BY_KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("lateral-view", _run(T.LATERAL, T.VIEW)),
    ("group-by-all", _run(T.GROUP_BY, T.ALL)),
    ("order-by-all", _run(T.ORDER_BY, T.ALL)),
    ("star-except", _run(T.STAR, T.EXCEPT, T.L_PAREN)),
    ("null-safe-equal", _any(T.NULLSAFE_EQ)),
    ("div-operator", _any(T.DIV)),
    ("regex-operator", _any(T.RLIKE)),
    ("ilike-operator", _any(T.ILIKE)),
    ("like-quantified", _any(T.LIKE, T.ILIKE) + _any(T.ANY, T.ALL, T.SOME)),
    ("semi-join", _any(T.SEMI, T.ANTI)),
    ("sort-by", _any(T.SORT_BY, T.DISTRIBUTE_BY, T.CLUSTER_BY)),
    ("table-sample", _any(T.TABLE_SAMPLE)),
    ("pivot", _any(T.PIVOT)),
    ("unpivot", _any(T.UNPIVOT)),
    ("filter-clause", f"(?<={_run(T.R_PAREN)})" + _run(T.FILTER)),
    ("values-table", _run(T.FROM, T.VALUES)),
    ("interval-literal", _run(T.INTERVAL) + _any(T.NUMBER, T.STRING, T.DASH)),
    ("lambda", _any(T.ARROW)),
    ("pipe-syntax", _any(T.PIPE_GT)),
    ("variant-path", _any(T.VAR, T.IDENTIFIER, T.R_PAREN) + _run(T.COLON) + _any(T.VAR)),
    ("xor-operator", _any(T.CARET)),
    ("natural-join", _any(T.NATURAL)),
    ("query-hint", _any(T.HINT)),
    ("limit-offset", _run(T.LIMIT, T.NUMBER, T.OFFSET)),
)
_SEARCHES: Final = tuple((name, re.compile(pattern)) for name, pattern in _BY_KINDS)
# A kind that each of them has and most queries lack, and the forms themselves: a search for one of
# some letters is much faster than one for any of the forms.
_RARE: Final = re.compile(
    _any(
        T.LATERAL, T.ALL, T.EXCEPT, T.NULLSAFE_EQ, T.DIV, T.RLIKE, T.ILIKE, T.LIKE, T.SEMI, T.ANTI,
        T.SORT_BY, T.DISTRIBUTE_BY, T.CLUSTER_BY, T.TABLE_SAMPLE, T.PIVOT, T.UNPIVOT, T.FILTER,
        T.VALUES, T.INTERVAL, T.ARROW, T.PIPE_GT, T.COLON, T.CARET, T.NATURAL, T.HINT, T.OFFSET,
    )
)  # fmt: skip
_SUSPECT: Final = re.compile("|".join(pattern for _, pattern in _BY_KINDS))
_ONCE: Final = frozenset({"pipe-syntax"})
"""What is said of a query as a whole, at its first place."""
_CHOICES: Final = frozenset(
    "any_value first first_value lag last last_value lead nth_value".split()
)
_EQUALS: Final = re.compile(_any(T.EQ))
_STRINGS: Final = re.compile(_any(T.STRING))
_NAMES: Final = re.compile(_any(T.IDENTIFIER))


def find_constructs(parsed: ParsedQuery) -> Iterator[tuple[str, Span]]:
    """Every such form of a query with its place, kind after kind."""
    tokens, kinds, text = parsed.tokens, parsed.kinds, parsed.text
    if _RARE.search(kinds) is not None and _SUSPECT.search(kinds) is not None:
        for name, form in _SEARCHES:
            for found in form.finditer(kinds):
                yield name, _span(tokens, found.start(), found.end())
                if name in _ONCE:
                    break
    if "==" in text:
        for found in _EQUALS.finditer(kinds):
            if tokens[found.start()].text == "==":
                yield "double-equal", _span(tokens, found.start(), found.end())
    if '"' in text or "\\" in text:
        yield from _string_forms(tokens, kinds, text)
    if "`" in text:
        yield from _quoted_names(tokens, kinds, text)
    if "ignore" in text.lower():
        yield from _ignored_nulls(tokens)


def _ignored_nulls(tokens: Sequence[Token]) -> Iterator[tuple[str, Span]]:
    """`first_value(a IGNORE NULLS)` and `first_value(a) IGNORE NULLS`: engines have one or both."""
    for at in range(1, len(tokens) - 1):
        if tokens[at].text.upper() == "IGNORE" and tokens[at + 1].text.upper() == "NULLS":
            span = _span(tokens, at, at + 2)
            yield f"ignore-nulls-{'behind' if _closes_choice(tokens, at - 1) else 'inside'}", span


def _closes_choice(tokens: Sequence[Token], at: int) -> bool:
    """Whether the token at an index closes a call that chooses among rows."""
    depth = 0
    for index in range(at, 0, -1):
        kind = tokens[index].token_type
        depth += (kind is T.R_PAREN) - (kind is T.L_PAREN)
        if depth <= 0:
            return index < at and tokens[index - 1].text.lower() in _CHOICES
    return False


def _string_forms(tokens: Sequence[Token], kinds: str, text: str) -> Iterator[tuple[str, Span]]:
    """Strings in double quotes, and those with a backslash that Spark reads as an escape."""
    for found in _STRINGS.finditer(kinds):
        span = _span(tokens, found.start(), found.end())
        written = text[span.start : span.end]
        if written.startswith('"'):
            yield "double-quoted-string", span
        if "\\" in written and written[:1] not in "rR":
            yield "string-escape", span


def _quoted_names(tokens: Sequence[Token], kinds: str, text: str) -> Iterator[tuple[str, Span]]:
    """Names in backticks; one with capitals is another name to engines that fold the others."""
    for found in _NAMES.finditer(kinds):
        span = _span(tokens, found.start(), found.end())
        if text[span.start : span.start + 1] == "`":
            yield "backtick-name", span
            name = tokens[found.start()].text
            if name != name.lower():
                yield "quoted-capitals", span


def _span(tokens: Sequence[Token], start: int, end: int) -> Span:
    return Span(tokens[start].start, tokens[end - 1].end + 1)
