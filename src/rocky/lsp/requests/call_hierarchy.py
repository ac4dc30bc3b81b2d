"""The call hierarchy: lineage. What reads a table or a column stands to it as a caller does."""

from collections.abc import Callable
from typing import Any, Final

from rocky.ide.lineage_hierarchy import LineageItem, goes_to, lineage_at, made_from
from rocky.ide.symbols import Symbol
from rocky.ide.view import View
from rocky.lsp.context import Context, Params

_TABLE: Final = 5
_COLUMN: Final = 8
"""A class and a field: the nearest that the protocol has."""


def lineage_items(context: Context, params: Params) -> list[dict[str, Any]] | None:
    """The table or the column at the cursor."""
    place = context.place(params)
    found = lineage_at(*place) if place is not None else None
    return [_shown(context, found)] if found is not None else None


def readers(context: Context, params: Params) -> list[dict[str, Any]]:
    """What is made from it, one step below."""
    return _step(context, params, "from", goes_to)


def origins(context: Context, params: Params) -> list[dict[str, Any]]:
    """What it is made from, one step above."""
    return _step(context, params, "to", made_from)


def _step(
    context: Context,
    params: Params,
    end: str,
    follow: Callable[[View, LineageItem], tuple[LineageItem, ...]],
) -> list[dict[str, Any]]:
    data = params["item"]["data"]
    symbol = Symbol(data["kind"], str(data["name"]), str(data["column"]))
    shown = (_shown(context, each) for each in follow(context.view, LineageItem(symbol, "", None)))
    return [{end: each, "fromRanges": [each["selectionRange"]]} for each in shown]


def _shown(context: Context, item: LineageItem) -> dict[str, Any]:
    # What is declared nowhere is shown at the project's settings: it has to be somewhere.
    path = item.place.path if item.place is not None else context.project.config_path
    location = context.location(path, item.place.span if item.place is not None else None)
    symbol = item.symbol
    return {
        "name": item.name,
        "kind": _COLUMN if symbol.column else _TABLE,
        "detail": item.kind,
        "uri": location["uri"],
        "range": location["range"],
        "selectionRange": location["range"],
        "data": {"kind": symbol.kind, "name": symbol.name, "column": symbol.column},
    }
