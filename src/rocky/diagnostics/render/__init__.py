"""One renderer per output format over one Diagnostic value."""

from rocky.diagnostics.render.concise import render_concise
from rocky.diagnostics.render.full import render_full, render_summary
from rocky.diagnostics.render.github import render_github
from rocky.diagnostics.render.json import render_json
from rocky.diagnostics.render.texts import NO_FILE, Texts

__all__ = [
    "NO_FILE",
    "Texts",
    "render_concise",
    "render_full",
    "render_github",
    "render_json",
    "render_summary",
]
