"""Front matter: a model's settings at the top of its own file.

```
---toml
intent = "orders by day"
---
SELECT ...
```
"""

import re
from typing import Final, NamedTuple


class FrontMatter(NamedTuple):
    """Where the TOML begins and ends and where the SQL begins; `end` None: not closed."""

    start: int
    end: int | None
    sql_start: int


_OPEN: Final = re.compile(r"\s*---[ \t]*toml[ \t]*\r?\n")
_CLOSE: Final = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


def find_front_matter(text: str) -> FrontMatter | None:
    """Where the front matter of a model is, if its text begins with one."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        return FrontMatter(opened.end(), None, len(text))
    return FrontMatter(opened.end(), closed.start(), closed.end())
