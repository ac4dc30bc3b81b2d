"""Fragments: SQL made of pieces, each with the call of Python that it stands for.

A fragment is never changed. What is said of a place in the finished text is said of the site of
the smallest piece there; glue that stands between belongs to whoever wrote around it.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.frames.sites import Site
from rocky.language.quotes import only_code

Piece = tuple[str, Site | None]


OR, AND, NOT, COMPARED, ADDED, MULTIPLIED = 1, 2, 3, 4, 8, 9
"""How tightly operators bind."""
ATOM: Final = 100
"""The level of what needs no parentheses anywhere."""


class Fragment(NamedTuple):
    """SQL in pieces. `level` is how tightly its outermost operator binds."""

    pieces: tuple[Piece, ...]
    level: int = ATOM

    @property
    def text(self) -> str:
        return "".join([text for text, _ in self.pieces])


def sql(*parts: "str | Fragment", site: Site | None = None, level: int = ATOM) -> Fragment:
    """One fragment of several; the texts among them stand for `site`."""
    pieces: list[Piece] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append((part, site))
        else:
            pieces.extend(part.pieces)
    return Fragment(tuple(pieces), level)


def text_level(text: str) -> int:
    """How tightly an author's SQL binds at least: nothing in it is looser than an OR."""
    return 0 if re.search(r"\bor\b|->", only_code(text), re.IGNORECASE) else AND


def operand(fragment: Fragment, level: int = ATOM) -> Fragment:
    """The fragment, in parentheses where it binds less tightly than its place asks for."""
    return fragment if fragment.level >= level else sql("(", fragment, ")")


def joined(separator: str, fragments: Iterable[Fragment]) -> Fragment:
    """Fragments with a text between them."""
    parts: list[str | Fragment] = []
    for each in fragments:
        if parts:
            parts.append(separator)
        parts.append(each)
    return sql(*parts)


@dataclass(frozen=True, slots=True)
class SitedText:
    """A finished text: where each piece begins, and its site."""

    text: str
    starts: tuple[int, ...]
    sites: tuple[Site | None, ...]

    def site(self, span: Span | None) -> Site | None:
        """The site of the first piece in the span that has one, else of the nearest before it."""
        if not self.starts:
            return None
        start, end = (0, len(self.text)) if span is None else (span.start, span.end)
        at = max(bisect_right(self.starts, start) - 1, 0)
        for index in range(at, len(self.starts)):
            if index > at and self.starts[index] >= max(end, start + 1):
                break
            if self.sites[index] is not None:
                return self.sites[index]
        return next((site for site in reversed(self.sites[:at]) if site is not None), None)


def finished(fragment: Fragment) -> SitedText:
    """The text of a fragment with its places."""
    starts: list[int] = []
    at = 0
    for text, _ in fragment.pieces:
        starts.append(at)
        at += len(text)
    return SitedText(fragment.text, tuple(starts), tuple(site for _, site in fragment.pieces))
