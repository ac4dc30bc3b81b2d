"""Changes of a project as editors make them: edits of texts, then files that move or come."""

from typing import Any

from rocky.errors import InvalidRequest
from rocky.ide.edits import EditSet, TextEdit
from rocky.lsp.context import Context
from rocky.lsp.documents import uri_of
from rocky.lsp.positions import TextPositions


def workspace_edit(context: Context, change: EditSet) -> dict[str, Any]:
    """A change as the editor takes it. Raises InvalidRequest where it cannot make one."""
    edits: dict[str, list[TextEdit]] = {}
    for each in dict.fromkeys(change.edits):
        edits.setdefault(each.path, []).append(each)
    shown = {path: _text_edits(context, path, own) for path, own in edits.items()}
    if not context.can("workspace", "workspaceEdit", "documentChanges"):
        if change.moves or change.created:
            raise InvalidRequest("this needs files to be made or renamed, which the editor cannot")
        return {"changes": {context.uri(path): own for path, own in shown.items()}}
    needed = {"rename"} if change.moves else set()
    needed |= {"create"} if change.created else set()
    known = context.can("workspace", "workspaceEdit", "resourceOperations") or ()
    if not needed <= set(known):
        raise InvalidRequest("this needs files to be made or renamed, which the editor cannot")
    parts: list[dict[str, Any]] = [
        _document(context.uri(path), _version(context, path), own) for path, own in shown.items()
    ]
    for old, new in change.moves:
        target = uri_of(f"{context.root}/{new}")
        parts.append({"kind": "rename", "oldUri": context.uri(old), "newUri": target})
    for path, text in change.created:
        uri = uri_of(f"{context.root}/{path}")
        parts.append({"kind": "create", "uri": uri})
        start = {"line": 0, "character": 0}
        whole = {"range": {"start": start, "end": start}, "newText": text}
        parts.append(_document(uri, None, [whole]))
    return {"documentChanges": parts}


def _text_edits(context: Context, path: str, edits: list[TextEdit]) -> list[dict[str, Any]]:
    positions = TextPositions(context.text(path))
    ordered = sorted(edits, key=lambda each: each.span)
    return [{"range": positions.range(each.span), "newText": each.text} for each in ordered]


def _document(uri: str, version: int | None, edits: list[dict[str, Any]]) -> dict[str, Any]:
    return {"textDocument": {"uri": uri, "version": version}, "edits": edits}


def _version(context: Context, path: str) -> int | None:
    opened = context.documents.get(context.uri(path))
    return opened.version if opened is not None else None
