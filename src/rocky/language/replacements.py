"""Replacements: a text in which parts were replaced, and its spans as spans of what was written.

What Spark runs is not what the author wrote: variables have values, table names are views', times
stand for placeholders. What Spark says of a place is said of that text; people want their own. A
span inside a replaced part becomes the whole part.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

from rocky.diagnostics.diagnostic import Span


class Replacement(NamedTuple):
    """A part of the text as it was written, and what stands in its place."""

    written: Span
    made: Span


@dataclass(frozen=True, slots=True)
class Replaced:
    """A text with replacements, in order."""

    text: str
    parts: tuple[Replacement, ...] = ()

    def written(self, span: Span) -> Span:
        """A span of the text as one of what was written."""
        return Span(self._back(span.start, end=False), self._back(span.end, end=True))

    def _back(self, offset: int, *, end: bool) -> int:
        at = bisect_right(self.parts, offset, key=lambda part: part.made.start) - 1
        if at < 0:
            return offset
        written, made = self.parts[at]
        if end and offset == made.start:
            return written.start
        if offset >= made.end:
            return offset - made.end + written.end
        return written.end if end else written.start
