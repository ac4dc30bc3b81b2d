"""The concise rendering: one line a diagnostic, in the form editors and grep know.

It has no snippet and no help; for those there is the full rendering.
"""

from collections.abc import Sequence

from rocky.diagnostics.diagnostic import Diagnostic
from rocky.diagnostics.render.style import Style
from rocky.diagnostics.render.texts import Texts, format_place, lookup, path_of


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
