"""Fitting: tables and names cut to the width of a terminal.

Text that is piped has no width, and then nothing is cut: who greps wants every column.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rocky.cli.render.tables import GAP, render_table

_NARROWEST: Final = 60
_ELASTIC: Final = 16
"""What is left of a column that gives way, at least."""
_ELLIPSES: Final = {True: "…", False: "..."}


class Room(NamedTuple):
    """How wide a table may be, and what gives way: first the end of one column, then whole ones.

    The `expendable` columns go in their order. Without a `width` nothing gives way.
    """

    width: int | None
    expendable: Sequence[str] = ()
    elastic: str | None = None

    def spare(self, sizes: Iterable[int]) -> int:
        """What is left of the width; negative when columns of these sizes do not fit."""
        if self.width is None:
            return sys.maxsize
        return self.width + len(GAP) - sum(size + len(GAP) for size in sizes)


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
    room: Room,
) -> Fitted:
    """A table that fits its room as well as it can."""
    sizes = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    least = [
        min(size, _ELASTIC) if name == room.elastic else size
        for name, size in zip(head, sizes, strict=True)
    ]
    kept = list(range(len(head)))
    dropped: list[str] = []
    for name in room.expendable:
        if room.spare(least[each] for each in kept) >= 0:
            break
        if name in head:
            kept.remove(head.index(name))
            dropped.append(name)
    spare = max(0, room.spare(least[each] for each in kept))

    def cell(row: Sequence[str], index: int) -> str:
        if head[index] != room.elastic or room.width is None:
            return row[index]
        limit = least[index] + spare
        return row[index] if len(row[index]) <= limit else f"{row[index][: limit - 3]}..."

    text = render_table(
        [head[each] for each in kept],
        [[cell(row, each) for each in kept] for row in rows],
        {place for place, each in enumerate(kept) if each in right},
    )
    return Fitted(text, tuple(dropped))


def describe_dropped(dropped: Sequence[str]) -> str:
    """What a narrow terminal does not show."""
    return f"too narrow for {', '.join(dropped)}: a wider terminal or `-o json` shows them"
