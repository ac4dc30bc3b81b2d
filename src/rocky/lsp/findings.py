"""Findings as editors take them: at ranges, with the other places involved and a page to read."""

from typing import Any, Final

import rocky.diagnostics
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.lsp.context import Context
from rocky.lsp.documents import uri_of
from rocky.lsp.positions import TextPositions

_SEVERITIES: Final = {Severity.ERROR: 1, Severity.WARNING: 2, Severity.INFO: 3}
_UNNECESSARY: Final = 1
_UNUSED: Final = frozenset({Code.UNUSED_ALLOW, Code.DECLASSIFIED_NOTHING})
_PAGES: Final = f"{rocky.diagnostics.__path__[0]}/explanations"


def shown_finding(found: Diagnostic, context: Context, path: str) -> dict[str, Any]:
    """A finding as the protocol has it; `path` is the file that it is shown in."""
    own = path == found.path
    positions = TextPositions(context.text(path))
    span = found.span if own else None
    shown: dict[str, Any] = {
        "range": positions.range(span) if span is not None else positions.first_line(),
        "severity": _SEVERITIES[found.severity],
        "code": found.code.value,
        "codeDescription": {"href": uri_of(f"{_PAGES}/{found.code.value}.md")},
        "source": "rocky",
        "message": _message(found),
    }
    related = [
        {"location": context.location(at, label.span), "message": label.message}
        for label in found.labels
        if (at := label.path or found.path)
    ]
    if related:
        shown["relatedInformation"] = related
    if found.code in _UNUSED:
        shown["tags"] = [_UNNECESSARY]
    return shown


def _message(found: Diagnostic) -> str:
    lines = [found.message, *(f"note: {each}" for each in found.notes)]
    if found.help is not None:
        lines.append(f"help: {found.help}")
    return "\n".join(lines)
