"""textDocument/completion, and completionItem/resolve for what costs more than a glance."""

from typing import Any, Final

from rocky.ide.completion import complete
from rocky.ide.completion_items import CompletionItem
from rocky.ide.functions import find_card, macro_card
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions

TRIGGERS: Final = (".", "@", "[", "=", '"', "'")

_KINDS: Final = {
    "column": 5,
    "field": 10,
    "relation": 6,
    "cte": 22,
    "model": 7,
    "source": 7,
    "seed": 7,
    "function": 3,
    "macro": 3,
    "parameter": 6,
    "keyword": 14,
    "key": 10,
    "block": 9,
    "value": 12,
}
"""The nearest that the protocol has: a field, a property, a variable, a struct, a class ..."""


def completion(context: Context, params: Params) -> dict[str, Any] | None:
    """What can be written here, in our order; it is asked for again with the next letter."""
    place = context.place(params)
    if place is None:
        return None
    file, offset = place
    positions = TextPositions(file.text)
    items = complete(file, offset)
    return {
        "isIncomplete": True,
        "items": [_shown(each, at, positions) for at, each in enumerate(items)],
    }


def _shown(item: CompletionItem, at: int, positions: TextPositions) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "label": item.label,
        "kind": _KINDS[item.kind],
        "sortText": f"{at:05}",
        "textEdit": {"range": positions.range(item.span), "newText": item.text},
    }
    if item.detail:
        shown["detail"] = item.detail
    if item.description:
        shown["documentation"] = item.description
    if item.kind in ("function", "macro"):
        shown["data"] = {"kind": item.kind, "name": item.label}
    return shown


def completion_card(context: Context, params: Params) -> dict[str, Any]:
    """An item as it was, a function with its signatures and what it does."""
    data = params.get("data") or {}
    if not data:
        return dict(params)
    find = macro_card if data["kind"] == "macro" else find_card
    card = find(context.view, str(data["name"]))
    if card is None or not card.signatures:
        return dict(params)
    listed = "\n".join(each.text for each in card.signatures)
    said = f"\n\n{card.description}" if card.description else ""
    text = {"kind": "markdown", "value": f"```sql\n{listed}\n```{said}"}
    return {**params, "detail": card.signatures[0].text, "documentation": text}
