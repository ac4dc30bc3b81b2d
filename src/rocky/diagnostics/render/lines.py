"""The forms with one line a diagnostic: concise, for editors and grep, and GitHub's annotations.

Neither has a snippet; for that there is the full rendering. GitHub reads one workflow command a
line, so a message's own line breaks are escaped, and property values escape `:` and `,` too.
"""

from collections.abc import Sequence

from rocky.diagnostics.codes import BY_CODE, Severity
from rocky.diagnostics.diagnostic import (
    Diagnostic,
    SourceText,
    Texts,
    format_place,
    lookup,
    path_of,
)
from rocky.diagnostics.render.terminal import Style


def render_concise(diagnostics: Sequence[Diagnostic], texts: Texts, *, colour: bool = False) -> str:
    """`path:line:column: error[E003] message`, a line each."""
    style, find = Style(colour), lookup(texts)
    lines = []
    for diagnostic in diagnostics:
        path = path_of(diagnostic)
        place = format_place(path, find(path), diagnostic.span)
        head = style.severity(
            diagnostic.severity, f"{diagnostic.severity.value}[{diagnostic.code.value}]"
        )
        message = " ".join(diagnostic.message.split())
        lines.append(f"{place}: {head} {message}\n")
    return "".join(lines)


_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Sequence[Diagnostic], texts: Texts) -> str:
    """One workflow command a diagnostic."""
    find = lookup(texts)
    lines = []
    for diagnostic in diagnostics:
        properties = _properties(diagnostic, find(diagnostic.path) if diagnostic.path else None)
        title = f"{diagnostic.code.value} {BY_CODE[diagnostic.code].name}"
        properties.append(("title", title))
        body = diagnostic.message
        if diagnostic.help:
            body += f"\nhelp: {diagnostic.help}"
        values = ",".join(f"{name}={escape_property(value)}" for name, value in properties)
        lines.append(f"::{_COMMAND[diagnostic.severity]} {values}::{escape_message(body)}\n")
    return "".join(lines)


def _properties(diagnostic: Diagnostic, text: SourceText | None) -> list[tuple[str, str]]:
    if diagnostic.path is None:
        return []
    place = [("file", diagnostic.path)]
    if text is None or diagnostic.span is None:
        return place
    line, column = text.position(diagnostic.span.start)
    end_line, end_column = text.position(max(diagnostic.span.end - 1, diagnostic.span.start))
    place += [("line", str(line)), ("endLine", str(end_line))]
    # GitHub takes columns only for a place on one line.
    if line == end_line:
        place += [("col", str(column)), ("endColumn", str(end_column))]
    return place


def escape_message(text: str) -> str:
    """A text after the `::` of a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """The value of a property of a command."""
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")
