"""A query's text cut into pieces by a cutter of the tests' own, so that it can disagree with the parser."""

import re

# Comments may nest, and a regular expression cannot count: do not give it such a query.
_PIECE = re.compile(
    r"""(?P<hint>/\*\+.*?\*/)
    |(?P<comment>/\*.*?\*/|--[^\n]*)
    |(?P<space>\s+)
    |(?P<string>[rRxX]?'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<quoted>`[^`]*`)
    |(?P<number>\d[\w.]*|\.\d\w*)
    |(?P<word>[^\W\d]\w*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)


def pieces_of(sql: str) -> list[tuple[str, str]]:
    """The text as (kind, text); the texts joined are the query again."""
    return [(str(found.lastgroup), found[0]) for found in _PIECE.finditer(sql)]
