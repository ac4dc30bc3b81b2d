"""Mapped text: a text made of pieces that know where they were written.

What is said of a place in the made text is said to people of the place they wrote. A piece is
copied letter by letter, stands for something that was written, or is glue that nobody wrote. A
piece that repeats what is written elsewhere is *borrowed*: it has a say only where no other has.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span


class Piece(NamedTuple):
    """A part of the made text: where it begins, and what it stands for (None: glue)."""

    start: int
    end: int
    written: Span | None
    copied: bool = False
    borrowed: bool = False

    def narrowed(self, start: int, end: int) -> Span | None:
        """What a part of the piece stands for."""
        if self.written is None or not self.copied:
            return self.written
        low = self.written.start + max(start - self.start, 0)
        return Span(low, self.written.end - max(self.end - end, 0))


@dataclass(frozen=True, slots=True)
class MappedText:
    """A text and its pieces, in order and without gaps."""

    text: str
    pieces: tuple[Piece, ...]

    def written(self, span: Span) -> Span:
        """A span of the text as one of what was written."""
        start, end = span.start, max(span.end, span.start + 1)
        at = max(bisect_right(self.pieces, start, key=lambda piece: piece.start) - 1, 0)
        found: list[tuple[bool, Span]] = []
        for piece in self.pieces[at:]:
            if piece.start >= end:
                break
            place = piece.narrowed(start, end) if piece.end > start else None
            if place is not None:
                found.append((piece.borrowed, place))
        if not found:
            return self._nearest(at)
        own = [place for borrowed, place in found if not borrowed]
        places = own or [place for _, place in found]
        return Span(min(each.start for each in places), max(each.end for each in places))

    def _nearest(self, at: int) -> Span:
        """What the piece before some glue stands for, else the one behind it."""
        for piece in (*reversed(self.pieces[:at]), *self.pieces[at:]):
            if piece.written is not None:
                return piece.written
        return Span(0, 0)


NO_TEXT: Final = MappedText("", ())


class MappedWriter:
    """Makes a mapped text, piece by piece."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._pieces: list[Piece] = []
        self._length = 0

    def glue(self, text: str) -> None:
        """Text that nobody wrote."""
        self._add(text, None)

    def write(self, text: str, written: Span, *, borrowed: bool = False) -> None:
        """Text that stands for what was written at a place."""
        self._add(text, written, borrowed=borrowed)

    def copy(self, text: str, written: Span, *, borrowed: bool = False) -> None:
        """Text that was written just so."""
        self._add(text, written, copied=True, borrowed=borrowed)

    def finish(self) -> MappedText:
        return MappedText("".join(self._texts), tuple(self._pieces))

    def _add(
        self, text: str, written: Span | None, *, copied: bool = False, borrowed: bool = False
    ) -> None:
        if text:
            end = self._length + len(text)
            self._texts.append(text)
            self._pieces.append(Piece(self._length, end, written, copied, borrowed))
            self._length = end
