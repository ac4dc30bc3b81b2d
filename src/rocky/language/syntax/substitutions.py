"""Substitutions: `${env:X}`, `${system:X}` and `${x}`, which Spark can replace in a query's text.

Rocky switches that off in every session. In quotes such a text is then just text, which an author
who knows it from Spark does not expect; outside of quotes it is no SQL, which the parser says.
"""

import re
from collections.abc import Iterator
from typing import Final

from sqlglot.tokens import TokenType

from rocky.diagnostics.diagnostic import Span
from rocky.language.syntax.parser import ParsedQuery

_REFERENCE: Final = re.compile(r"\$\{(?:\w+?:)?\S+?\}")
"""As Spark finds one."""

_QUOTED: Final = frozenset({TokenType.STRING, TokenType.RAW_STRING, TokenType.IDENTIFIER})


def find_substitutions(parsed: ParsedQuery) -> Iterator[Span]:
    """Where a query has one in quotes."""
    if "${" not in parsed.text:
        return
    for token in parsed.tokens:
        if token.token_type in _QUOTED:
            for found in _REFERENCE.finditer(parsed.text, token.start, token.end + 1):
                yield Span(*found.span())
