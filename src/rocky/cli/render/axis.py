"""A time axis in characters: ticks at round times, and bars under them.

Something that took any time at all is at least one character wide, so bars that follow each other
closely may seem to overlap; the numbers beside them are what counts.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from rocky.evidence.timeline import Bar
from rocky.ledger.run_records import ModelStatus

_APART: Final = 9
"""Characters between two ticks, at least: room for a label."""
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60 * _SECOND_MS
_HOUR_MS: Final = 60 * _MINUTE_MS
_STEPS_MS: Final = (
    *(unit * times for unit in (1, 10, 100) for times in (1, 2, 5)),
    *(_SECOND_MS * times for times in (1, 2, 5, 10, 20, 30)),
    *(_MINUTE_MS * times for times in (1, 2, 5, 10, 20, 30)),
    *(_HOUR_MS * times for times in (1, 2, 4, 8, 12, 24, 48, 120, 240)),
)


class Glyphs(NamedTuple):
    """What bars are drawn with."""

    ran: str
    waited: str
    failed: str
    interrupted: str
    reused: str


BLOCKS: Final = Glyphs("█", "░", "x", "▒", "◆")
LETTERS: Final = Glyphs("#", ".", "x", "!", "=")


class Drawn(NamedTuple):
    """The characters of a bar, left to right."""

    before: str
    waited: str
    ran: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A stretch of time, in milliseconds since the run began, over so many characters."""

    first_ms: int
    last_ms: int
    width: int

    @property
    def _length_ms(self) -> int:
        return max(1, self.last_ms - self.first_ms)

    def column(self, moment_ms: int) -> int:
        """The character a moment falls on."""
        place = (moment_ms - self.first_ms) * self.width // self._length_ms
        return min(self.width - 1, max(0, place))

    def ticks(self) -> str:
        """Labels that begin where their time is."""
        step = next(
            (each for each in _STEPS_MS if each * self.width >= _APART * self._length_ms),
            max(_STEPS_MS[-1], self._length_ms),
        )
        cells = [" "] * self.width
        moment = -(-self.first_ms // step) * step
        while moment <= self.last_ms:
            label = f"|{format_tick(moment, step)}"
            place = self.column(moment)
            if place + len(label) <= self.width:
                cells[place : place + len(label)] = label
            moment += step
        return "".join(cells).rstrip()

    def draw(self, bar: Bar, glyphs: Glyphs) -> Drawn:
        """A bar under this axis."""
        start = min(self.width - 1, self._edge(bar.start_ms))
        end = max(start + 1, self._edge(bar.end_ms))
        ready = bar.ready_ms if bar.ready_ms is not None else bar.start_ms
        waits_from = min(start, self._edge(ready))
        ran = glyph_of(bar, glyphs) * (end - start)
        return Drawn(" " * waits_from, glyphs.waited * (start - waits_from), ran)

    def _edge(self, moment_ms: int) -> int:
        """The character a moment comes before: an end, where something else may begin."""
        place = (moment_ms - self.first_ms) * self.width / self._length_ms
        return min(self.width, max(0, round(place)))


def glyph_of(bar: Bar, glyphs: Glyphs) -> str:
    execution = bar.execution
    if execution.status is ModelStatus.FAILED:
        return glyphs.failed
    if execution.status is ModelStatus.INTERRUPTED:
        return glyphs.interrupted
    if execution.status in (ModelStatus.REUSED, ModelStatus.SKIPPED):
        return glyphs.reused
    return glyphs.ran


def format_tick(moment_ms: int, step_ms: int) -> str:
    """A time since the run began, as fine as the step between ticks."""
    if moment_ms == 0:
        return "0"
    if step_ms >= _HOUR_MS:
        return f"{moment_ms // _HOUR_MS} h"
    minutes, rest = divmod(moment_ms, _MINUTE_MS)
    if step_ms >= _MINUTE_MS:
        return f"{minutes} min"
    if step_ms >= _SECOND_MS:
        seconds = rest // _SECOND_MS
        return f"{minutes}:{seconds:02}" if minutes else f"{seconds} s"
    if moment_ms < _SECOND_MS:
        return f"{moment_ms} ms"
    digits = 1 if step_ms >= _SECOND_MS // 10 else 2 if step_ms >= _SECOND_MS // 100 else 3
    return f"{moment_ms / _SECOND_MS:.{digits}f} s"
