"""One renderer per output format over one Diagnostic value."""

from rocky.diagnostics.diagnostic import NO_FILE, Texts
from rocky.diagnostics.render.full import counted, render_full, render_summary
from rocky.diagnostics.render.lines import render_concise, render_github

__all__ = [
    "NO_FILE",
    "Texts",
    "counted",
    "render_concise",
    "render_full",
    "render_github",
    "render_summary",
]
