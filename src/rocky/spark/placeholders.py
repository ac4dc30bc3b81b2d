"""`@start_date` and `@end_date`: filled in so that Spark can read a time-interval model.

Which dates does not matter to the analyser; that they are text literals, as in a run, does.
"""

import re
from typing import Final

# Strings and comments come first, so that a placeholder inside one is left alone.
_PIECE: Final = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
    r"|@(?P<name>start_date|end_date)\b",
    re.DOTALL | re.IGNORECASE,
)
_DATES: Final = {"start_date": "'2000-01-01'", "end_date": "'2000-01-02'"}


def fill_placeholders(sql: str) -> str:
    """The query with a date in place of each placeholder."""
    if "@" not in sql:
        return sql
    return _PIECE.sub(
        lambda found: _DATES[found["name"].lower()] if found["name"] else found[0], sql
    )
