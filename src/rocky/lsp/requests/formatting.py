"""textDocument/formatting: the layout of `rocky fmt`, of a `.rocky` text or of SQL."""

from typing import Any

from rocky.diagnostics.diagnostic import Span
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions
from rocky.operations.check.fmt import format_text


def formatting(context: Context, params: Params) -> list[dict[str, Any]] | None:
    """One edit of what differs; None for a file without a layout, none where it cannot be read."""
    path = context.path(params)
    if path is None or not path.lower().endswith((".rocky", ".sql")):
        return None
    text = context.text(path)
    made = format_text(text, path)[1]
    if made is None:
        return []
    start = 0
    while start < min(len(text), len(made)) and text[start] == made[start]:
        start += 1
    end = 0
    while end < min(len(text), len(made)) - start and text[-1 - end] == made[-1 - end]:
        end += 1
    place = TextPositions(text).range(Span(start, len(text) - end))
    return [{"range": place, "newText": made[start : len(made) - end]}]
