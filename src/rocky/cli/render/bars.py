"""Bars: the models of a timeline, a row each, lane by lane under a time axis.

The axis begins with the first model that was built and not with the run: Spark may take longer to
start than all models together, and would leave no room for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from rocky.cli.render.axis import BLOCKS, LETTERS, Axis, Drawn, Glyphs, glyph_of
from rocky.cli.render.compilation import counted
from rocky.cli.render.fitting import elide
from rocky.cli.render.history import outcome_of
from rocky.cli.render.tables import GAP
from rocky.cli.render.units import format_duration
from rocky.evidence.timeline import Bar, Timeline
from rocky.ledger.run_records import ModelExecution, ModelStatus

_NARROW_NAME: Final = 24
_WIDE: Final = 120
_WIDE_NAME: Final = 44
_SHORTEST_AXIS: Final = 20
_PATH: Final = "*"


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
    used = {glyph_of(bar, glyphs) for bar in bars}
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
