"""Fitting: tables and names cut to the width of a terminal.

Text that is piped has no width, and then nothing is cut: who greps wants every column.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from rocky.cli.render.tables import GAP, render_table

_NARROWEST: Final = 60
_ELLIPSES: Final = {True: "…", False: "..."}


class Fitted(NamedTuple):
    """A table, and the heads of the columns there was no room for."""

    text: str
    dropped: tuple[str, ...]


def terminal_width() -> int | None:
    """Columns of the terminal; None when the output goes elsewhere and nobody set `COLUMNS`."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit():
        return None
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def shows_blocks() -> bool:
    """Whether the output can carry block characters; elsewhere they would be escapes."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def elide(text: str, width: int, *, blocks: bool = True) -> str:
    """At most `width` characters: long names differ at both ends, so the middle goes."""
    if len(text) <= width:
        return text
    mark = _ELLIPSES[blocks]
    kept = max(0, width - len(mark))
    head = (kept + 1) // 2
    return text[:head] + mark + text[len(text) - (kept - head) :]


def render_fitted(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: set[int],
    expendable: Sequence[str],
    width: int | None,
) -> Fitted:
    """A table no wider than `width`, without the first of the `expendable` columns if need be."""
    kept = list(range(len(head)))
    dropped: list[str] = []
    sizes = [max(len(row[index]) for row in (head, *rows)) for index in kept]
    for name in expendable:
        if width is None or sum(sizes[each] + len(GAP) for each in kept) - len(GAP) <= width:
            break
        if name in head:
            kept.remove(head.index(name))
            dropped.append(name)
    text = render_table(
        [head[each] for each in kept],
        [[row[each] for each in kept] for row in rows],
        {place for place, each in enumerate(kept) if each in right},
    )
    return Fitted(text, tuple(dropped))


def describe_dropped(dropped: Sequence[str]) -> str:
    """What a narrow terminal does not show."""
    return f"too narrow for {', '.join(dropped)}: a wider terminal or `-o json` shows them"
