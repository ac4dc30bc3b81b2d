"""Names and texts as SQL writes them: identifiers in backticks, string literals in quotes."""

import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BACKSLASH: Final = "\\"

NOT_INNERMOST: Final = 1
"""Of a name in a query: it must not be found in the query it stands in."""
NOT_OUTER: Final = 2
"""Of a name in a query: it must not be found in the query around the one it stands in."""


def quote_name(name: str) -> str:
    """An identifier in backticks."""
    return f"`{name.replace('`', '``')}`"


def quote_if_needed(name: str) -> str:
    """An identifier as people write it: in backticks only where SQL would not read it without."""
    return name if _PLAIN.fullmatch(name) else quote_name(name)


def quote_text(text: str) -> str:
    """A string literal: the text itself, whatever is in it."""
    escaped = text.replace(_BACKSLASH, _BACKSLASH * 2).replace("'", f"{_BACKSLASH}'")
    return f"'{escaped}'"


def bare_name(text: str) -> str:
    """A name without the quotes around it."""
    return text.strip("`")


def split_name(name: str) -> tuple[str, ...]:
    """The parts of a written name such as cat.`Schema`.t, without their backticks."""
    return tuple(part.strip("`") for part in name.split("."))
