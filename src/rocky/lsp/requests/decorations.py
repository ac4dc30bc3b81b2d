"""Semantic tokens, inlay hints and folding ranges: how a file is shown."""

from typing import Any, Final

from rocky.diagnostics.diagnostic import Span
from rocky.ide.folding import folds
from rocky.ide.inlay_hints import inlay_hints
from rocky.ide.semantic_tokens import semantic_tokens
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions, units

_TYPES: Final = {
    "table": "class",
    "cte": "struct",
    "relation": "variable",
    "column": "property",
    "field": "enumMember",
    "parameter": "parameter",
    "function": "function",
    "macro": "macro",
    "variable": "variable",
}
"""The kinds of tokens that every theme of an editor has colours for."""
_TOKEN_TYPES: Final = tuple(dict.fromkeys(_TYPES.values()))
_MODIFIERS: Final = ("definition", "classified", "declared")
LEGEND: Final = {"tokenTypes": list(_TOKEN_TYPES), "tokenModifiers": list(_MODIFIERS)}
_TYPE: Final = 1


def tokens(context: Context, params: Params) -> dict[str, Any] | None:
    """The names of a file, each by five numbers that count from the one before."""
    file = context.file(params)
    if file is None:
        return None
    positions = TextPositions(file.text)
    data: list[int] = []
    line = character = 0
    for each in semantic_tokens(file):
        at = positions.position(each.span.start)
        same = at["line"] == line
        data += (
            at["line"] - line,
            at["character"] - (character if same else 0),
            units(file.text[each.span.start : each.span.end]),
            _TOKEN_TYPES.index(_TYPES[each.kind]),
            sum(1 << _MODIFIERS.index(one) for one in each.modifiers),
        )
        line, character = at["line"], at["character"]
    return {"data": data}


def hints(context: Context, params: Params) -> list[dict[str, Any]]:
    """The types of computed columns, behind their names."""
    file = context.file(params)
    if file is None:
        return []
    positions = TextPositions(file.text)
    shown = params["range"]
    within = Span(positions.offset(shown["start"]), positions.offset(shown["end"]))
    return [
        {"position": positions.position(each.offset), "label": each.text, "kind": _TYPE}
        for each in inlay_hints(file, within)
    ]


def folding_ranges(context: Context, params: Params) -> list[dict[str, Any]]:
    """The parts of several lines; the line of a closing parenthesis stays where it begins it."""
    file = context.file(params)
    if file is None:
        return []
    positions = TextPositions(file.text)
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for each in folds(file):
        start = positions.position(each.span.start)["line"]
        end = positions.position(each.span.end)["line"]
        before = file.text[: each.span.end].rpartition("\n")[2]
        end -= not before.strip()
        if end > start:
            kind = "comment" if each.kind == "comment" else "region"
            found.setdefault((start, end), {"startLine": start, "endLine": end, "kind": kind})
    return list(found.values())
