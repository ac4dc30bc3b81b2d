"""Findings for people: the message, the lines of source with carets below, help and notes.

Texts that may hold a secret, such as the value of an option, are never shown: stars stand for them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rocky.diagnostics.codes import BY_CODE, Severity
from rocky.diagnostics.diagnostic import (
    Diagnostic,
    Label,
    SourceText,
    Span,
    Texts,
    format_place,
    lookup,
    path_of,
)
from rocky.diagnostics.render.terminal import Row, Style, Window, clip, lay_out, window_around
from rocky.diagnostics.suggestion import closest

_WORDS: Final = ("password", "passwd", "secret", "token", "credential")
_SECRET_KEY: Final = re.compile(
    r"passw|passphrase|pwd|secret|token|credential|(?:access|private|api|account)[._-]?key",
    re.IGNORECASE,
)
_PART_OF_KEY: Final = re.compile(r"[A-Za-z]+")
_NAME: Final = r"(?:\"[^\"\n]*\"|'[^'\n]*'|(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++)"
_KEY: Final = re.compile(rf"({_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*=[ \t]*")
_LONG: Final = r"\"\"\"(?:[^\\]|\\.)*?(?:\"{3,5}|\Z)|'''.*?(?:'{3,5}|\Z)"
_STRING: Final = re.compile(rf"{_LONG}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'", re.DOTALL)
# A value that is not what it should be, as one with a quote too many, is secret to the line's end.
_VALUE: Final = re.compile(
    rf"{_LONG}"
    r"|(?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|\[[^\]]*\]|\{[^}]*\}|\$\{\w+\})"
    r"(?=[ \t]*(?:[,}\]#\r\n]|\Z))"
    r"|[^\n]*",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"(\"\"\"|'''|\"|'|)\$\{\w+\}\1")
_IN_ADDRESS: Final = (
    re.compile(r"(://[^/@\s:]*:|jdbc:oracle:\w+:[^/@\s]*/)(\S+)(?=@)"),
    re.compile(r"((?:passw(?:or)?d|pwd|secret|token)=)(?!')([^&;\s\"]+)", re.IGNORECASE),
    # `unique_key=[` is a setting of the file, not a part of an address.
    re.compile(r"((?<!unique_)key=)(?!['\[{])([^&;\s\"]+)", re.IGNORECASE),
)
_EVERY_CHARACTER: Final = re.compile(r"[^\r\n]")


def redact_secrets(text: SourceText) -> SourceText:
    """The text to cut excerpts from; only what is in TOML is known to be a setting."""
    return SourceText(text.path, _redact(text.text)) if text.path.endswith(".toml") else text


@lru_cache(maxsize=8)
def _redact(text: str) -> str:
    shown: list[str] = []
    done = 0
    while key := _KEY.search(text, done):
        value = (_VALUE if _is_secret(key[1]) else _STRING).match(text, key.end())
        shown.append(text[done : key.end()])
        done = key.end()
        if value is not None:
            shown.append(_starred(value[0]) if _is_secret(key[1]) else value[0])
            done = value.end()
    shown.append(text[done:])
    concealed = "".join(shown)
    for pattern in _IN_ADDRESS:
        concealed = pattern.sub(lambda found: found[1] + _starred(found[2]), concealed)
    return concealed


def _is_secret(key: str) -> bool:
    """Whether a key means a secret; one that is misspelt does too."""
    return _SECRET_KEY.search(key) is not None or any(
        closest(part, _WORDS) for part in _PART_OF_KEY.findall(key)
    )


def _starred(value: str) -> str:
    """The value in stars, inside the quotes that it has."""
    if _REFERENCE.fullmatch(value):
        return value
    quote = value[:1] if value[:1] in ("'", '"') and len(value) > 1 else ""
    if not quote or value[-1] != quote:
        return _EVERY_CHARACTER.sub("*", value)
    return f"{quote}{_EVERY_CHARACTER.sub('*', value[1:-1])}{quote}"


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


def render_full(diagnostics: Sequence[Diagnostic], texts: Texts, *, colour: bool = False) -> str:
    """Every diagnostic with its snippets, a blank line after each; empty when there are none."""
    style, find = Style(colour), lookup(texts)
    return "".join(f"{_render_one(diagnostic, find, style)}\n\n" for diagnostic in diagnostics)


def render_summary(diagnostics: Sequence[Diagnostic], models: int) -> str:
    """One line: how many findings of each severity, in how many models."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    words = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    found = ", ".join(
        counted(counts[severity], word) for severity, word in words.items() if counts[severity]
    )
    return f"{found or 'no errors'} in {counted(models, 'model')}"


def counted(count: int, noun: str) -> str:
    """As `1 model`, `2,000 models`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _render_one(
    diagnostic: Diagnostic, find: Callable[[str], SourceText | None], style: Style
) -> str:
    path = path_of(diagnostic)
    text = find(path)
    own = _own_marks(diagnostic, path) if text is not None else []
    others = _other_files(diagnostic, path, find)
    width = max(
        [gutter_width(text, own) if text is not None else 1]
        + [gutter_width(other, marks) for _, other, marks in others]
    )
    pad = " " * width
    lines = [_headline(diagnostic, style)]
    if diagnostic.path is not None or diagnostic.span is not None:
        place = format_place(path, text, diagnostic.span)
        lines.append(f"{style.gutter(pad + '-->')} {place}")
    if text is not None and own:
        lines += render_snippet(text, own, width, diagnostic.severity, style)
    for other_path, other, marks in others:
        place = format_place(other_path, other, marks[0].span)
        lines.append(f"{style.gutter(pad + ':::')} {place}")
        lines += render_snippet(other, marks, width, diagnostic.severity, style)
    for kind, note in _footnotes(diagnostic, path, find):
        lines.append(_footnote(pad, kind, note, style))
    return "\n".join(line.rstrip() for line in lines)


def _headline(diagnostic: Diagnostic, style: Style) -> str:
    name = BY_CODE[diagnostic.code].name
    head = f"{diagnostic.severity.value}[{diagnostic.code.value} {name}]"
    return style.severity(diagnostic.severity, head) + style.bold(f": {diagnostic.message}")


def _own_marks(diagnostic: Diagnostic, path: str) -> list[Mark]:
    marks = [Mark(diagnostic.span, primary=True)] if diagnostic.span is not None else []
    return marks + [
        Mark(label.span, label.message)
        for label in diagnostic.labels
        if label.span is not None and label.path in (None, path)
    ]


def _other_files(
    diagnostic: Diagnostic, path: str, find: Callable[[str], SourceText | None]
) -> list[tuple[str, SourceText, list[Mark]]]:
    """The labels in other files whose text is there, gathered by file in order of appearance."""
    gathered: dict[str, tuple[SourceText, list[Mark]]] = {}
    for label in diagnostic.labels:
        if label.span is None or label.path is None or label.path == path:
            continue
        text = find(label.path)
        if text is not None:
            marks = gathered.setdefault(label.path, (text, []))[1]
            marks.append(Mark(label.span, label.message))
    return [(other, text, marks) for other, (text, marks) in gathered.items()]


def _footnotes(
    diagnostic: Diagnostic, path: str, find: Callable[[str], SourceText | None]
) -> list[tuple[str, str]]:
    """What has no place to be drawn at: help, notes, Spark's condition, labels without a text."""
    notes = [
        ("note", _homeless(label))
        for label in diagnostic.labels
        if label.span is None or find(label.path or path) is None
    ]
    notes += [("note", note) for note in diagnostic.notes]
    if diagnostic.help is not None:
        notes.append(("help", diagnostic.help))
    if diagnostic.condition is not None:
        notes.append(("note", f"Spark: {diagnostic.condition}"))
    return notes


def _homeless(label: Label) -> str:
    return f"{label.message} ({label.path})" if label.path else label.message


def _footnote(pad: str, kind: str, note: str, style: Style) -> str:
    """A footnote whose further lines stand under its first."""
    first, *rest = note.splitlines() or [""]
    indent = " " * (len(pad) + len(f" = {kind}: "))
    head = f"{style.gutter(pad + ' =')} {style.bold(kind + ':')} {first}"
    return "\n".join([head, *(indent + line for line in rest)])
