"""The JSON form: one document a diagnostic, every key always present.

`span` holds both offsets (for tools) and lines (for people); the lines are null when the
text is not at hand. `suggestion` is the `help` that names what was probably meant, else null.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rocky.diagnostics.codes import BY_CODE
from rocky.diagnostics.diagnostic import NO_FILE, Diagnostic, Fix, Label, Texts, lookup
from rocky.diagnostics.text import SourceText, Span

_Find = Callable[[str], SourceText | None]


def render_json(diagnostics: Sequence[Diagnostic], texts: Texts) -> list[dict[str, Any]]:
    """The diagnostics as documents that `json.dumps` takes as they are."""
    find = lookup(texts)
    return [_document(diagnostic, find) for diagnostic in diagnostics]


def _document(diagnostic: Diagnostic, find: _Find) -> dict[str, Any]:
    info = BY_CODE[diagnostic.code]
    return {
        "code": diagnostic.code.value,
        "name": info.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "condition": diagnostic.condition,
        "model": diagnostic.model,
        "span": _span(diagnostic.path, diagnostic.span, find),
        "labels": [_label(label, diagnostic.path, find) for label in diagnostic.labels],
        "help": diagnostic.help,
        "notes": list(diagnostic.notes),
        "suggestion": _suggestion(diagnostic),
        "fix": _fix(diagnostic.fix, diagnostic.path, find),
        "suppressible": info.suppressible,
    }


def _suggestion(diagnostic: Diagnostic) -> str | None:
    said = diagnostic.help
    return said if said is not None and said.startswith("did you mean") else None


def _span(path: str | None, span: Span | None, find: _Find) -> dict[str, Any] | None:
    """Where it is; null when neither a file nor a place in it is known."""
    if path is None and span is None:
        return None
    place: dict[str, Any] = {"file": path}
    place.update(dict.fromkeys(("line", "col", "end_line", "end_col", "start", "end")))
    if span is not None:
        place["start"], place["end"] = span
        text = find(path or NO_FILE)
        if text is not None:
            place["line"], place["col"] = text.position(span.start)
            place["end_line"], place["end_col"] = text.position(span.end)
    return place


def _label(label: Label, path: str | None, find: _Find) -> dict[str, Any]:
    where = label.path or (path if label.span is not None else None)
    return {"message": label.message, "span": _span(where, label.span, find)}


def _fix(fix: Fix | None, path: str | None, find: _Find) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = [{"span": _span(path, edit.span, find), "text": edit.text} for edit in fix.edits]
    return {"title": fix.title, "safety": fix.safety.value, "edits": edits}
