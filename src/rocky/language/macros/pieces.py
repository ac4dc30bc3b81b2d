"""Pieces: a text in the making, each part with the places it comes from.

The first place is the call in the text that people look at first, the last is where the characters
themselves were written. A piece that is `exact` is a copy, so that a part of it has a place of its
own; of any other piece the place is that of the whole. A `hole` is a parameter that has no argument
yet: its text is a stand-in that parses. `own` marks a name that belongs to a macro.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rocky.diagnostics.diagnostic import Span


class Place(NamedTuple):
    """Characters of a file; without a path, of the text that calls."""

    path: str | None
    span: Span


class Hole(NamedTuple):
    """A parameter at one of its places in a macro.

    `depth` is how many queries of the macro stand around it; `enclosed` asks for parentheses
    whatever the argument is, `dotted` for a name of one part.
    """

    parameter: str
    depth: int = 0
    enclosed: bool = False
    dotted: bool = False


class OwnName(NamedTuple):
    """A name that a macro gives to something of its own."""

    macro: str
    name: str


class Piece(NamedTuple):
    """Some characters and their places; `ban` is what a name among them must not mean.

    `through` are the places of the parameter whose argument they are.
    """

    text: str
    places: tuple[Place, ...]
    exact: bool = True
    hole: Hole | None = None
    own: OwnName | None = None
    ban: int = 0
    through: tuple[Place, ...] = ()


Pieces = list[Piece]


def text_of(pieces: Iterable[Piece]) -> str:
    """The text that pieces make."""
    return "".join(piece.text for piece in pieces)


def copied(text: str, path: str | None, start: int = 0) -> Piece:
    """A text as it stands in a file from an offset on."""
    return Piece(text, (Place(path, Span(start, start + len(text))),))


def made(text: str, places: tuple[Place, ...]) -> Piece:
    """A text that stands for what is written at a place."""
    return Piece(text, places, exact=False)


def cut(pieces: Sequence[Piece], start: int, end: int) -> Pieces:
    """The part of a text from an offset up to another."""
    found: Pieces = []
    at = 0
    for piece in pieces:
        low, high = max(start - at, 0), min(end - at, len(piece.text))
        at += len(piece.text)
        if low >= high:
            continue
        if low == 0 and high == len(piece.text):
            found.append(piece)
            continue
        places = piece.places
        if piece.exact:
            path, span = places[-1]
            places = (*places[:-1], Place(path, Span(span.start + low, span.start + high)))
        found.append(piece._replace(text=piece.text[low:high], places=places))
    return found


def without_comments(pieces: Pieces, part: Span, comments: Iterable[Span]) -> Pieces:
    """A part of a text; of a comment one blank is left, and none at the end of a line."""
    start, stop = part
    text = text_of(pieces)
    done: Pieces = []
    at = start
    for comment in comments:
        if comment.start < start or comment.end > stop:
            continue
        ends = not text[comment.end : stop].partition("\n")[0].strip()
        low = len(text[at : comment.start].rstrip(" \t")) + at if ends else comment.start
        done += cut(pieces, at, low)
        if not ends:
            done.append(made(" ", places_of(pieces, *comment)))
        at = comment.end
    return [*done, *cut(pieces, at, stop)]


def places_of(pieces: Sequence[Piece], start: int, end: int) -> tuple[Place, ...]:
    """Where the characters from an offset up to another were written, as one chain of places."""
    return join_places([piece.places for piece in cut(pieces, start, end)])


def join_places(chains: Sequence[tuple[Place, ...]]) -> tuple[Place, ...]:
    """The places of several pieces as one chain: as deep as they have something in common.

    A chain goes on into a macro only if all that is said lies within one call of it.
    """
    if not chains:
        return ()
    path = chains[0][0].path
    own = [chain[0].span for chain in chains if chain[0].path == path]
    whole = Span(min(span.start for span in own), max(span.end for span in own))
    deeper = [chain for chain in chains if len(chain) > 1]
    if not deeper or any(chain[0] != deeper[0][0] for chain in deeper):
        return (Place(path, whole),)
    if whole != deeper[0][0].span:
        return (Place(path, whole),)
    return (Place(path, whole), *join_places([chain[1:] for chain in deeper]))
