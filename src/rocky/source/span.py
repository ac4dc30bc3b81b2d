"""Span: a half-open range of character offsets in one text.

Offsets count code points, not bytes, and `end` is exclusive. A span does not know
its text: the thing that carries it also carries the path.
"""

from typing import NamedTuple


class Span(NamedTuple):
    """The characters from `start` up to, not including, `end`."""

    start: int
    end: int

    def cover(self, other: "Span") -> "Span":
        """The smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.end, other.end))
