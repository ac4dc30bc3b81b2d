"""Snippet: the lines of one file that a diagnostic is about, with marks under them.

The diagnostic's own span is underlined with carets, every other place with dashes. A
span over several lines shows its first and its last line. Secrets in settings are starred.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocky.diagnostics.codes import Severity
from rocky.diagnostics.render.redaction import redact_secrets
from rocky.diagnostics.render.terminal import Row, Style, Window, clip, lay_out, window_around
from rocky.diagnostics.text import SourceText, Span


@dataclass(frozen=True, slots=True)
class Mark:
    """A span to underline, and what to write beside it."""

    span: Span
    message: str = ""
    primary: bool = False


@dataclass(frozen=True, slots=True)
class _Stroke:
    """A mark's part on one line, in cells of the clipped row."""

    start: int
    end: int
    message: str
    primary: bool


def gutter_width(text: SourceText, marks: Iterable[Mark]) -> int:
    """How many digits the largest line number of a snippet has."""
    return max((len(str(text.line_of(_last(mark.span)))) for mark in marks), default=1)


def render_snippet(
    text: SourceText, marks: list[Mark], width: int, severity: Severity, style: Style
) -> list[str]:
    """The lines of a snippet, each with its gutter `width` digits wide."""
    text = redact_secrets(text)
    pieces = _pieces_by_line(text, marks)
    bar = style.gutter(" " * width + " |")
    lines = [bar]
    previous: int | None = None
    for line in sorted(pieces):
        if previous is not None and line > previous + 1:
            lines.append(style.gutter("..."))
        row = lay_out(text.line_text(line))
        strokes, window = _place(row, pieces[line])
        number = style.gutter(f"{line:>{width}} |")
        lines.append(f"{number} {clip(row, window)}".rstrip())
        lines.extend(f"{bar} {under}" for under in _underlines(strokes, severity, style))
        previous = line
    return lines


def _last(span: Span) -> int:
    """The offset of a span's last character, or of its start when it is empty."""
    return max(span.start, span.end - 1)


def _pieces_by_line(text: SourceText, marks: list[Mark]) -> dict[int, list[tuple[int, int, Mark]]]:
    """For each line to show, the (first column, end column, mark) on it, 0-based.

    The message of a mark stands on its last line only, so a span of many lines says it once.
    """
    pieces: dict[int, list[tuple[int, int, Mark]]] = {}
    for mark in marks:
        first, start = text.position(mark.span.start)
        last, end = text.position(_last(mark.span))
        if first == last:
            # An empty span, or one that ends in a line break, still gets one caret.
            pieces.setdefault(first, []).append((start - 1, max(end, start), mark))
            continue
        opening = text.line_text(first)
        silent = Mark(mark.span, "", mark.primary)
        pieces.setdefault(first, []).append((start - 1, max(len(opening), start), silent))
        closing = text.line_text(last)
        indent = len(closing) - len(closing.lstrip())
        pieces.setdefault(last, []).append((min(indent, end - 1), end, mark))
    return pieces


def _place(row: Row, pieces: list[tuple[int, int, Mark]]) -> tuple[list[_Stroke], Window]:
    """The strokes of one line and the window of the row that shows them."""
    spans = [(row.cell(start), max(row.cell(end), row.cell(start) + 1)) for start, end, _ in pieces]
    own = [cells for cells, piece in zip(spans, pieces, strict=True) if piece[2].primary] or spans
    window = window_around(row, min(cells[0] for cells in spans), max(cells[1] for cells in spans))
    if max(cells[1] for cells in own) > window.end:
        window = window_around(row, min(cells[0] for cells in own), max(cells[1] for cells in own))
    strokes = []
    for (first, last), (_, _, mark) in zip(spans, pieces, strict=True):
        start = window.moved(first)
        strokes.append(
            _Stroke(start, max(window.moved(last), start + 1), mark.message, mark.primary)
        )
    return strokes, window


def _underlines(strokes: list[_Stroke], severity: Severity, style: Style) -> Iterator[str]:
    """The row of marks, then one row per message that does not fit beside them."""
    ordered = sorted(strokes, key=lambda stroke: (stroke.start, stroke.end))
    rightmost = ordered[-1]
    yield _mark_row(ordered, rightmost, severity, style)
    waiting = [stroke for stroke in ordered if stroke.message and stroke is not rightmost]
    if waiting:
        yield style.gutter(_bars(waiting))
    while waiting:
        stroke = waiting.pop()
        lead = _bars([other for other in waiting if other.start < stroke.start])
        yield style.gutter(lead.ljust(stroke.start) + stroke.message)


def _mark_row(ordered: list[_Stroke], rightmost: _Stroke, severity: Severity, style: Style) -> str:
    """Carets and dashes in their cells, and the rightmost message after them."""
    cells: list[str] = [" "] * max(stroke.end for stroke in ordered)
    # The caret wins where marks overlap, so it is drawn last.
    for stroke in sorted(ordered, key=lambda stroke: stroke.primary):
        width = stroke.end - stroke.start
        cells[stroke.start : stroke.end] = ("^" if stroke.primary else "-") * width
    row = "".join(_coloured(cells, severity, style))
    return f"{row} {style.gutter(rightmost.message)}" if rightmost.message else row


def _coloured(cells: list[str], severity: Severity, style: Style) -> Iterator[str]:
    """The cells in runs of one character, each in its colour."""
    start = 0
    for at in range(1, len(cells) + 1):
        if at < len(cells) and cells[at] == cells[start]:
            continue
        run = "".join(cells[start:at])
        if run[0] == "^":
            yield style.severity(severity, run)
        else:
            yield style.gutter(run) if run[0] == "-" else run
        start = at


def _bars(strokes: list[_Stroke]) -> str:
    """A row with a bar under the start of each stroke."""
    row = ""
    for start in sorted({stroke.start for stroke in strokes}):
        row = row.ljust(start) + "|"
    return row
