"""The full rendering: a diagnostic as rustc would draw it, with the lines it is about.

Two outputs of one list are equal byte for byte whatever the terminal, colours aside, so
the rendering can be a golden file.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from rocky.diagnostics.codes import BY_CODE, Severity
from rocky.diagnostics.diagnostic import Diagnostic, Label, Texts, format_place, lookup, path_of
from rocky.diagnostics.render.snippet import Mark, gutter_width, render_snippet
from rocky.diagnostics.render.terminal import Style
from rocky.diagnostics.text import SourceText


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
