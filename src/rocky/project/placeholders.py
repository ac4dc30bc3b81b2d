"""Placeholders in templates: `{tenant}`, and `{regions:-}` with the text that joins several values.

A brace that belongs to no placeholder is a mistake, never part of a name.
"""

import re
from typing import Final, NamedTuple

_PLACEHOLDER: Final = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_BRACE: Final = re.compile(r"[{}]")


class Placeholder(NamedTuple):
    """A placeholder and where it stands; `joint` is None where the template leaves it open."""

    name: str
    joint: str | None
    start: int
    end: int


def find_placeholders(template: str) -> list[Placeholder]:
    """The placeholders of a template, in order."""
    return [
        Placeholder(found[1], found[2], found.start(), found.end())
        for found in _PLACEHOLDER.finditer(template)
    ]


def find_stray_brace(template: str) -> int | None:
    """Where a brace stands that belongs to no placeholder."""
    blank = _PLACEHOLDER.sub(lambda found: " " * len(found.group()), template)
    stray = _BRACE.search(blank)
    return stray.start() if stray else None
