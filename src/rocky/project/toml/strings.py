"""Texts in TOML: the place of a part of a value, whatever quotes and escapes it is written with."""

import re
from typing import Final

from rocky.diagnostics.diagnostic import Span

_ESCAPE: Final = re.compile(
    r"\\(?:u(?P<four>[0-9A-Fa-f]{4})|U(?P<eight>[0-9A-Fa-f]{8})|(?P<one>.))"
)
_JOINED: Final = re.compile(r"\\[ \t]*\r?\n[ \t\r\n]*")
_CHARACTERS: Final = {
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    '"': '"',
    "\\": "\\",
}


def place_inside(text: str, value: Span, said: str, part: Span) -> Span:
    """The place of a part of a text value in the file; all of the value when that is unsure.

    `value` is where the value is written, quotes included, and `said` what it says.
    """
    places = _places(text[value.start : value.end], said)
    if places is None or part.start >= len(said):
        return value
    last = min(max(part.end, part.start + 1), len(said)) - 1
    return Span(value.start + places[part.start][0], value.start + places[last][1])


def _places(written: str, said: str) -> list[tuple[int, int]] | None:
    """Where each character of a value is written; None for what is not written as it is said."""
    quote = written[:3] if written[:3] in ('"""', "'''") else written[:1]
    if quote not in ('"', "'", '"""', "'''") or not written.endswith(quote):
        return None
    at, end = len(quote), len(written) - len(quote)
    if len(quote) > 1:
        at += 2 if written.startswith("\r\n", at) else written.startswith("\n", at)
    places: list[tuple[int, int]] = []
    found: list[str] = []
    while at < end:
        start = at
        character, at = written[at], at + 1
        if character == "\\" and quote[0] == '"':
            joined = _JOINED.match(written, start, end)
            if joined is not None:
                at = joined.end()
                continue
            escape = _ESCAPE.match(written, start, end)
            if escape is None:
                return None
            at = escape.end()
            code = escape["four"] or escape["eight"]
            character = chr(int(code, 16)) if code else _CHARACTERS.get(escape["one"], "")
        elif written.startswith("\r\n", start):
            character, at = "\n", start + 2
        places.append((start, at))
        found.append(character)
    return places if "".join(found) == said else None
