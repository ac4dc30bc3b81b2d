"""Tables for people: numbers with their units, columns aligned, cut to the width of a terminal.

Text that is piped has no width, and then nothing is cut: who greps wants every column.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

GAP = "  "


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Rows under a head. Columns whose index is in `right` stand to the right, as numbers do."""
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    return "\n".join(
        GAP.join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    )


NOTHING: Final = "-"
"""What stands where a value is not known."""
NULL: Final = "NULL"
"""What stands for a null of SQL."""

_SIZES: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_STEP: Final = 1000
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60 * _SECOND_MS
_HOUR_MS: Final = 60 * _MINUTE_MS
_CENT: Final = 0.01


def format_bytes(count: int | None) -> str:
    """Decimal units, as object stores and disks count: 1.5 MB is 1,500,000 bytes."""
    if count is None:
        return NOTHING
    if count < _STEP:
        return f"{count} B"
    size = float(count)
    unit = 0
    # Rounding may carry into the next unit: 999.96 kB is 1.0 MB.
    while round(size, 1) >= _STEP and unit < len(_SIZES) - 1:
        size /= _STEP
        unit += 1
    return f"{size:.1f} {_SIZES[unit]}"


def format_duration(milliseconds: int | None) -> str:
    """As `850 ms`, `12.3 s`, `4 min 05 s` or `2 h 07 min`."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < _SECOND_MS:
        return f"{milliseconds} ms"
    if milliseconds < _MINUTE_MS:
        return f"{milliseconds // 100 / 10:.1f} s"
    if milliseconds < _HOUR_MS:
        minutes, rest = divmod(milliseconds, _MINUTE_MS)
        return f"{minutes} min {rest // _SECOND_MS:02} s"
    hours, rest = divmod(milliseconds, _HOUR_MS)
    return f"{hours:,} h {rest // _MINUTE_MS:02} min"


def format_seconds(milliseconds: int | None) -> str:
    """Core time, in seconds alone, so that a column of them can be compared."""
    return NOTHING if milliseconds is None else f"{milliseconds / _SECOND_MS:,.1f}"


def format_usd(amount: float | None) -> str:
    """Cents, and more digits where cents would say nothing."""
    if amount is None:
        return NOTHING
    if amount == 0 or amount >= _CENT:
        return f"{amount:,.2f}"
    return f"{amount:.6f}" if amount >= _CENT / 10_000 else "< 0.000001"


def format_count(count: int | None) -> str:
    return NOTHING if count is None else f"{count:,}"


def format_versions(versions: tuple[int, ...]) -> str:
    """Numbers in order, those that follow each other as one range."""
    parts: list[list[int]] = []
    for each in versions:
        if parts and parts[-1][-1] == each - 1:
            parts[-1].append(each)
        else:
            parts.append([each])
    return ", ".join(str(one[0]) if len(one) == 1 else f"{one[0]}-{one[-1]}" for one in parts)


def format_moment(moment: datetime | None) -> str:
    """Seconds in UTC."""
    return NOTHING if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


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
