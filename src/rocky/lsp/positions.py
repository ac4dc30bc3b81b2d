r"""Positions: offsets in a text as editors count them, in lines and UTF-16 code units.

A line ends with `\n`, `\r\n` or `\r`. A character beyond the first 65,536, such as an emoji, is
two units long; a position inside one is taken for its beginning.
"""

import re
from bisect import bisect_right
from typing import Any, Final

from rocky.diagnostics.diagnostic import Span

_END: Final = re.compile(r"\r\n|\n|\r")
_PLAIN: Final = 0x10000


class TextPositions:
    """The lines of one text."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in _END.finditer(text))]

    def position(self, offset: int) -> dict[str, int]:
        """Where an offset is; one beyond the text is its end."""
        offset = min(max(offset, 0), len(self._text))
        line = bisect_right(self._starts, offset) - 1
        return {"line": line, "character": units(self._text[self._starts[line] : offset])}

    def range(self, span: Span) -> dict[str, dict[str, int]]:
        return {"start": self.position(span.start), "end": self.position(span.end)}

    def first_line(self) -> dict[str, dict[str, int]]:
        """The range of what is about a file as a whole."""
        end = self._starts[1] if len(self._starts) > 1 else len(self._text)
        return self.range(Span(0, len(self._text[:end].rstrip("\r\n"))))

    def offset(self, position: Any) -> int:
        """The offset of a position; one beyond its line is the line's end."""
        line, wanted = int(position["line"]), int(position["character"])
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self._text)
        start = self._starts[line]
        last = line + 1 == len(self._starts)
        end = len(self._text) if last else self._starts[line + 1]
        row = self._text[start:end].rstrip("\r\n") if not last else self._text[start:end]
        if row.isascii():
            return start + min(max(wanted, 0), len(row))
        at = 0
        for index, letter in enumerate(row):
            width = 1 if ord(letter) < _PLAIN else 2
            if at + width > wanted:
                return start + index
            at += width
        return start + len(row)


def units(text: str) -> int:
    """The length of a text in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text) + sum(ord(letter) >= _PLAIN for letter in text)
