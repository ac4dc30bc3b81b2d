"""The names that a query gives to its CTEs, found in its text before anything can parse it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.language.names import bare_name

_TOKEN: Final = re.compile(
    r"(?P<skip>--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?)"
    r"|(?P<word>`[^`]*`|\w+)|(?P<mark>[(),])",
    re.DOTALL,
)


def find_ctes(sql: str) -> Mapping[str, Sequence[Span]]:
    """The CTEs of a query by name in lower case, with where the query of each stands.

    A definition is `NAME AS (` or `NAME (columns) AS (`; what only looks like one, as a named
    window, does no harm: a name is written in full once too often.
    """
    found: dict[str, list[Span]] = {}
    opened: list[tuple[str | None, int]] = []
    before: list[str] = []
    for token in _tokens(sql):
        text = token.group()
        if text == "(":
            named = len(before) > 1 and before[-1].lower() == "as"
            opened.append((bare_name(before[-2]).lower() if named else None, token.end()))
        elif text == ")" and opened:
            name, start = opened.pop()
            if name is not None and name != ")":
                found.setdefault(name, []).append(Span(start, token.start()))
        before = [*before[-1:], text]
    return found


def is_inside(at: int, spans: Sequence[Span]) -> bool:
    """Whether a place is in the query of one of them: there the name still means the table."""
    return any(span.start <= at < span.end for span in spans)


def _tokens(sql: str) -> Iterator[re.Match[str]]:
    for token in _TOKEN.finditer(sql):
        if token["skip"] is None:
            yield token
