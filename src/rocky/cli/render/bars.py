"""Bars: the models of a timeline, a row each, lane by lane under a time axis with round times.

The axis begins with the first model that was built and not with the run: Spark may take longer to
start than all models together, and would leave no room for them. Something that took any time at
all is at least one character wide, so bars that follow each other closely may seem to overlap; the
numbers beside them are what counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import click

from rocky.cli.render.tables import GAP, elide, format_duration
from rocky.diagnostics.render import counted
from rocky.evidence.timeline import Bar, Timeline
from rocky.ledger.run_records import ModelExecution, ModelStatus
from rocky.operations.records.outcome_words import outcome_of

_NARROW_NAME: Final = 24
_WIDE: Final = 120
_WIDE_NAME: Final = 44
_SHORTEST_AXIS: Final = 20
_PATH: Final = "*"
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
            label = f"|{_format_tick(moment, step)}"
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
        ran = _glyph_of(bar, glyphs) * (end - start)
        return Drawn(" " * waits_from, glyphs.waited * (start - waits_from), ran)

    def _edge(self, moment_ms: int) -> int:
        """The character a moment comes before: an end, where something else may begin."""
        place = (moment_ms - self.first_ms) * self.width / self._length_ms
        return min(self.width, max(0, round(place)))


def _glyph_of(bar: Bar, glyphs: Glyphs) -> str:
    execution = bar.execution
    if execution.status is ModelStatus.FAILED:
        return glyphs.failed
    if execution.status is ModelStatus.INTERRUPTED:
        return glyphs.interrupted
    if execution.status in (ModelStatus.REUSED, ModelStatus.SKIPPED):
        return glyphs.reused
    return glyphs.ran


def _format_tick(moment_ms: int, step_ms: int) -> str:
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


@dataclass(frozen=True, slots=True)
class Canvas:
    """What a timeline is drawn on. Without `blocks` only ASCII is used."""

    width: int
    blocks: bool = True
    colour: bool = False

    @property
    def glyphs(self) -> Glyphs:
        return BLOCKS if self.blocks else LETTERS

    def name(self, text: str) -> str:
        width = _WIDE_NAME if self.width >= _WIDE else _NARROW_NAME
        return elide(text, width, blocks=self.blocks)

    def paint(self, text: str, colour: str | None = None, *, dim: bool = False) -> str:
        if not self.colour or not text:
            return text
        return click.style(text, fg=colour, dim=dim or None)


def draw_bars(timeline: Timeline, shown: Sequence[Bar], canvas: Canvas) -> str:
    """A row for each bar to be shown, how many are not, and the legend."""
    rows = sorted(shown, key=lambda bar: (bar.lane, bar.start_ms, bar.end_ms))
    cells = [_cells(bar, rows[place - 1] if place else None, canvas)
             for place, bar in enumerate(rows)]  # fmt: skip
    head = ["LANE", "", "MODEL", "TIME", ""]
    if any(row[-1] for row in cells):
        head[-1] = "STATUS"
    sizes = [max(len(row[index]) for row in (head, *cells)) for index in range(len(head))]
    left = [_join(row, sizes) for row in (head, *cells)]
    width = max(_SHORTEST_AXIS, canvas.width - len(left[0]) - len(GAP))
    axis = Axis(timeline.startup_ms, max(each.end_ms for each in timeline.bars), width)
    lines = [f"{left[0]}{GAP}{axis.ticks()}".rstrip()]
    drawn = [axis.draw(bar, canvas.glyphs) for bar in rows]
    lines += [
        f"{text}{GAP}{_paint(bar, drawing, canvas)}"
        for text, bar, drawing in zip(left[1:], rows, drawn, strict=True)
    ]
    hidden = len(timeline.bars) - len(shown)
    if hidden:
        lines.append(
            f"{counted(hidden, 'shorter model')} left out: `--limit {len(timeline.bars)}` shows all"
        )
    return "\n".join([*lines, "", _describe_glyphs(rows, drawn, canvas)])


def _cells(bar: Bar, above: Bar | None, canvas: Canvas) -> tuple[str, ...]:
    same_lane = above is not None and above.lane == bar.lane
    return (
        "" if same_lane else str(bar.lane),
        _PATH if bar.critical else "",
        canvas.name(bar.name),
        format_duration(bar.length_ms),
        _mark(bar.execution),
    )


def _mark(execution: ModelExecution) -> str:
    return "" if execution.status is ModelStatus.SUCCESS else outcome_of(execution)


def _join(row: Sequence[str], sizes: Sequence[int]) -> str:
    lane, path, name, time, status = (
        cell.ljust(size) for cell, size in zip(row, sizes, strict=True)
    )
    time = time.strip().rjust(len(time))
    # The mark of the critical path stands close to its name.
    parts = [lane, f"{path} {name}" if sizes[1] else name, time]
    return GAP.join([*parts, status] if sizes[4] else parts)


def _paint(bar: Bar, drawn: Drawn, canvas: Canvas) -> str:
    colour = "cyan" if bar.critical else "green"
    if bar.execution.status in (ModelStatus.FAILED, ModelStatus.INTERRUPTED):
        colour = "red"
    return drawn.before + canvas.paint(drawn.waited, dim=True) + canvas.paint(drawn.ran, colour)


def _describe_glyphs(bars: Sequence[Bar], drawn: Sequence[Drawn], canvas: Canvas) -> str:
    """The legend, of what is there to be seen."""
    glyphs = canvas.glyphs
    used = {_glyph_of(bar, glyphs) for bar in bars}
    words = [
        (glyphs.ran, "ran"),
        (glyphs.failed, "failed"),
        (glyphs.interrupted, "interrupted"),
        (glyphs.reused, "found built"),
    ]
    said = [f"{glyph} {word}" for glyph, word in words if glyph in used]
    if any(each.waited for each in drawn):
        said.append(f"{glyphs.waited} inputs done, waited to start")
    if any(bar.critical for bar in bars):
        said.append(f"{_PATH} critical path")
    return "   ".join(said)
