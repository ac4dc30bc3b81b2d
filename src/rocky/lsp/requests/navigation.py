"""textDocument/definition, references and documentHighlight: the places of a name."""

from typing import Any, Final

from rocky.ide.declaration import definition, definition_of
from rocky.ide.references import references
from rocky.ide.symbols import symbol_at, symbols_in
from rocky.ide.view import Place
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions

_READ: Final = 2
_WRITE: Final = 3


def definitions(context: Context, params: Params) -> list[dict[str, Any]]:
    """Where the thing at the cursor was made or declared."""
    place = context.place(params)
    return context.locations(definition(*place)) if place is not None else []


def reference_places(context: Context, params: Params) -> list[dict[str, Any]]:
    """Every place of the project that names it."""
    place = context.place(params)
    if place is None:
        return []
    found = references(*place)
    if not (params.get("context") or {}).get("includeDeclaration", True):
        defined = set(definition(*place))
        found = tuple(each for each in found if each not in defined)
    return context.locations(found)


def highlights(context: Context, params: Params) -> list[dict[str, Any]]:
    """The places of the same file that name it, and there alone: no other file is read."""
    place = context.place(params)
    found = symbol_at(*place) if place is not None else None
    if place is None or found is None:
        return []
    file, _ = place
    positions = TextPositions(file.text)
    defined = set(definition_of(file.view, found.symbol))
    spans = {each.span for each in symbols_in(file) if each.symbol == found.symbol}
    return [
        {
            "range": positions.range(span),
            "kind": _WRITE if Place(file.path, span) in defined else _READ,
        }
        for span in sorted(spans)
    ]
