"""Placeholders: where a query says `@start_date` and `@end_date`, the ends of its interval.

Those in comments, strings and quoted names are none.
"""

import re
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.language.quotes import only_code

_PLACEHOLDER: Final = re.compile(r"@(?P<name>start_date|end_date)\b", re.IGNORECASE)


class Placeholder(NamedTuple):
    """One end of an interval at its place; `name` is in lower case."""

    name: str
    span: Span


def find_placeholders(sql: str) -> list[Placeholder]:
    """The placeholders of a query, in order."""
    if "@" not in sql:
        return []
    return [
        Placeholder(found["name"].lower(), Span(*found.span()))
        for found in _PLACEHOLDER.finditer(only_code(sql))
    ]
