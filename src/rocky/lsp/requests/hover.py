"""textDocument/hover and textDocument/signatureHelp: what is known of what stands here."""

from typing import Any

from rocky.ide.functions import FunctionCard, FunctionSignature
from rocky.ide.hover import hover
from rocky.ide.signature_help import signature_help
from rocky.ide.symbols import symbol_at
from rocky.ide.view import OpenFile
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions


def hover_text(context: Context, params: Params) -> dict[str, Any] | None:
    """What is said of a name, and of a model when it ran last."""
    place = context.place(params)
    said = hover(*place) if place is not None else None
    if place is None or said is None:
        return None
    file, offset = place
    ran = _last_run(context, file, offset)
    text = f"{said.markdown}\n\n*last run*: {ran}" if ran is not None else said.markdown
    return {
        "contents": {"kind": "markdown", "value": text},
        "range": TextPositions(file.text).range(said.span),
    }


def _last_run(context: Context, file: OpenFile, offset: int) -> str | None:
    found = symbol_at(file, offset)
    if found is None or found.symbol.kind != "table":
        return None
    return context.last_run(found.symbol.name)


def signatures(context: Context, params: Params) -> dict[str, Any] | None:
    """The ways to call the function that the cursor is in, that with enough parameters first."""
    place = context.place(params)
    found = signature_help(*place) if place is not None else None
    if found is None or not found.function.signatures:
        return None
    ways = found.function.signatures
    fits = (at for at, each in enumerate(ways) if len(each.parameters) > found.argument)
    return {
        "signatures": [_signature(each, found.function) for each in ways],
        "activeSignature": next(fits, 0),
        "activeParameter": found.argument,
    }


def _signature(way: FunctionSignature, card: FunctionCard) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "label": way.text,
        "parameters": [{"label": each.text} for each in way.parameters],
    }
    if card.description:
        shown["documentation"] = card.description
    return shown
