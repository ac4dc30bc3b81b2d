"""Expansion: a text with its macros expanded, and where each part of it was written.

Plain values, so that it can be asked and kept without the parser.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocky.diagnostics.diagnostic import Label, Span
from rocky.language.macros.pieces import Piece, Place, join_places


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text made of pieces, and the names in it that must not mean something else.

    `source` is the text that calls. `macros` are those whose text is in it, by path, with their
    names; a file without one is that of a setting which added to the text. `bans` are offsets of
    names, with what each must not mean.
    """

    source: str
    text: str
    pieces: Sequence[Piece]
    macros: Mapping[str, str]
    bans: Mapping[int, int] = field(default_factory=dict)

    def written(self, span: Span) -> Span:
        """A span of the text as one of the text that calls: a call, where it is inside of one."""
        chain = self._chain(span, through=False)
        return chain[0].span if chain else span

    def labels(self, span: Span) -> tuple[Label, ...]:
        """Where in macros a span of the text was written, the outermost call's macro first.

        An argument was written by the caller, unless what is said is that the macro takes it for
        something else.
        """
        return tuple(
            Label(place.span, _role(self.macros[place.path]), place.path)
            for place in self._chain(span, through=True)[1:]
            if place.path is not None
        )

    def _chain(self, span: Span, *, through: bool) -> tuple[Place, ...]:
        """The places of a span; `through` takes arguments for parts of the macro they are in."""
        start, end = span.start, max(span.end, span.start + 1)
        found: list[tuple[Place, ...]] = []
        passed: list[tuple[Place, ...]] = []
        inside = False
        high = 0
        for piece in self.pieces:
            low, high = high, high + len(piece.text)
            if high <= start and high < len(self.text):
                continue
            if low >= end:
                break
            found.append(_part(piece, start - low, end - low))
            passed.append(piece.through or found[-1])
            inside = inside or len(piece.places) > 1 or bool(piece.ban)
        return join_places(passed if through and inside else found)


def _role(macro: str) -> str:
    return f"in the macro `{macro}`" if macro else "the setting that this is made from"


def _part(piece: Piece, start: int, end: int) -> tuple[Place, ...]:
    if not piece.exact:
        return piece.places
    path, span = piece.places[-1]
    low = min(max(start, 0), len(piece.text))
    part = Span(span.start + low, span.start + max(low, min(end, len(piece.text))))
    return (*piece.places[:-1], Place(path, part))


def expansion_of(source: str, pieces: Sequence[Piece], macros: Mapping[str, str]) -> Expansion:
    """The text that pieces make of another."""
    kept = [piece for piece in pieces if piece.text]
    bans: dict[int, int] = {}
    at = 0
    for piece in kept:
        if piece.ban:
            bans[at] = piece.ban
        at += len(piece.text)
    text = "".join(piece.text for piece in kept)
    return Expansion(source, text, kept, macros, bans)
