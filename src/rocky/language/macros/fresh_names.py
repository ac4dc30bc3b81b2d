"""Fresh names: the own names of macros, spelt so that the text that calls has them nowhere."""

import re
from typing import Final

from rocky.language.macros.bodies import own_text
from rocky.language.macros.pieces import OwnName, Pieces

_WORD: Final = re.compile(r"\w+")


def with_fresh_names(pieces: Pieces, text: str) -> Pieces:
    """The pieces with own names that the text itself has nowhere."""
    owns = {piece.own for piece in pieces if piece.own is not None}
    words = {word.lower() for word in _WORD.findall(text)} if owns else set()
    suffixes: dict[str, str] = {}
    for macro in sorted({own.macro for own in owns}):
        number = 1
        while any(_word(own, _suffix(number)) in words for own in owns if own.macro == macro):
            number += 1
        suffixes[macro] = _suffix(number)
    return [
        piece
        if piece.own is None or not suffixes[piece.own.macro]
        else piece._replace(text=own_text(piece.own, suffixes[piece.own.macro]))
        for piece in pieces
    ]


def _word(own: OwnName, suffix: str) -> str:
    return f"{own.name}__{own.macro}{suffix}".lower()


def _suffix(number: int) -> str:
    return "" if number == 1 else f"_{number}"
