"""`@start_date` and `@end_date`: the ends of an interval, put into the query of an interval model.

They become text literals, which Spark compares with dates and timestamps; a placeholder inside a
string, a quoted name or a comment is left alone.
"""

import re
from typing import Final

# Strings and comments come first, so that a placeholder inside one is left alone.
_PIECE: Final = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
    r"|@(?P<name>start_date|end_date)\b",
    re.DOTALL | re.IGNORECASE,
)


def fill_placeholders(sql: str, start: str = "2000-01-01", end: str = "2000-01-02") -> str:
    """The query with the two times in place of its placeholders.

    Which times does not matter to Spark's analyser, only that they are texts, as in a run.
    """
    if "@" not in sql:
        return sql
    texts = {"start_date": f"'{start}'", "end_date": f"'{end}'"}
    return _PIECE.sub(
        lambda found: texts[found["name"].lower()] if found["name"] else found[0], sql
    )
