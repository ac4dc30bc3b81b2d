"""A text and the places in it: `SourceText` and `Span`.

A span is a half-open range of code points, not bytes, and does not know its text: whatever carries
the span also carries the path. Lines and columns are 1-based, as editors show them.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Span(NamedTuple):
    """The characters from `start` up to, not including, `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class SourceText:
    """The text of `path` (project-relative, `/`-separated) as it was read."""

    path: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of the first character of each line."""
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def line_of(self, offset: int) -> int:
        return bisect_right(self.line_starts, min(max(offset, 0), len(self.text)))

    def position(self, offset: int) -> tuple[int, int]:
        """The (line, column) of an offset."""
        line = self.line_of(offset)
        return line, min(max(offset, 0), len(self.text)) - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")

    def line_span(self, line: int) -> Span:
        start = self.line_starts[line - 1]
        return Span(start, start + len(self.line_text(line)))
