"""The terminal: colours, and how many cells the characters of a line fill.

A character is not a column: a tab fills up to four cells, an ideograph two, a combining mark none.
Carets line up only if both the line and its marks are laid out in cells. Colours are plain escape
codes: the terminal library would cost more start-up time than everything else a compile prints.
"""

from dataclasses import dataclass
from unicodedata import category, combining, east_asian_width

from rocky.diagnostics.codes import Severity

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_SEVERITY = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.INFO: "\x1b[1;36m",
}
_GUTTER = "\x1b[1;34m"


@dataclass(frozen=True, slots=True)
class Style:
    """What to wrap words in; with `colour` off every method returns its text as it came."""

    colour: bool = False

    def severity(self, severity: Severity, text: str) -> str:
        return self._wrap(_SEVERITY[severity], text)

    def bold(self, text: str) -> str:
        return self._wrap(_BOLD, text)

    def gutter(self, text: str) -> str:
        return self._wrap(_GUTTER, text)

    def _wrap(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self.colour and text else text


TAB = 4
LIMIT = 120
"""The widest piece of a line that is shown; a longer line is clipped around its marks."""

_ELLIPSIS = "..."
_FIRST_CONTROL_PICTURE = 0x2400


@dataclass(frozen=True, slots=True)
class Row:
    """A line as shown, and where each of its characters starts, in cells.

    `starts` has one entry more than the line has characters: the cell after the last.
    """

    shown: str
    starts: tuple[int, ...]

    def cell(self, column: int) -> int:
        """The cell of a 0-based character column; past the end, one cell per column."""
        last = len(self.starts) - 1
        return self.starts[column] if column <= last else self.starts[last] + column - last


def lay_out(line: str) -> Row:
    """A line in cells, with tabs expanded and control characters made visible."""
    shown: list[str] = []
    starts: list[int] = []
    at = 0
    for character in line:
        starts.append(at)
        if character == "\t":
            width = TAB - at % TAB
            shown.append(" " * width)
        elif category(character) in ("Cc", "Cf"):
            # An escape sequence in a model must not reach the terminal as one.
            width = 1
            code = ord(character)
            shown.append(chr(_FIRST_CONTROL_PICTURE + code) if code < 0x20 else "\ufffd")
        else:
            width = _width(character)
            shown.append(character)
        at += width
    starts.append(at)
    return Row("".join(shown), tuple(starts))


def _width(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


@dataclass(frozen=True, slots=True)
class Window:
    """The cells of a row that are shown: from `start` up to `end`."""

    start: int
    end: int

    def moved(self, cell: int) -> int:
        """Where a cell of the row stands in the clipped row, kept inside it."""
        lead = len(_ELLIPSIS) if self.start else 0
        return min(max(cell, self.start), self.end) - self.start + lead


def window_around(row: Row, first: int, last: int) -> Window:
    """The part of a row to show so that the cells from `first` to `last` are in it."""
    width = row.starts[-1]
    if width <= LIMIT:
        return Window(0, max(width, last))
    before = max(0, LIMIT - (last - first)) // 3
    start = max(0, min(first - before, width - LIMIT))
    return Window(start, min(width, start + LIMIT))


def clip(row: Row, window: Window) -> str:
    """The row's text inside a window, with dots where it was cut."""
    width = row.starts[-1]
    if window.start == 0 and window.end >= width:
        return row.shown
    kept: list[str] = []
    at = 0
    for character in row.shown:
        step = _width(character)
        if at >= window.start and at + step <= window.end:
            kept.append(character)
        at += step
    lead = _ELLIPSIS if window.start else ""
    return lead + "".join(kept) + (_ELLIPSIS if window.end < width else "")
