"""textDocument/documentSymbol and workspace/symbol: models, columns, sources, seeds, macros ..."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.ide.outline import OutlineItem, outline
from rocky.ide.view import OpenFile
from rocky.lsp.context import Context, Params
from rocky.lsp.positions import TextPositions
from rocky.project import ModelFile

_MODEL, _COLUMN, _TABLE, _FUNCTION = 5, 8, 23, 12
"""A class, a field, a struct and a function: the nearest that the protocol has."""
_KINDS: Final = {"cte": _TABLE, "column": _COLUMN, "macro": _FUNCTION, "block": 3}
_MOST: Final = 200


class Symbol(NamedTuple):
    """Something that has a name: its kind, its file, and where it stands there if that is known."""

    name: str
    kind: int
    path: str
    span: Span | None
    within: str


def document_symbols(context: Context, params: Params) -> list[dict[str, Any]]:
    """The model of a file with its columns, or whatever else a file declares."""
    file = context.file(params)
    if file is None:
        return []
    positions = TextPositions(file.text)
    model = context.project.texts.model_at(file.path)
    if model is not None:
        return [_of_model(model, file, positions)]
    declared = [
        _symbol(each.name, each.kind, each.within, each.span, positions)
        for each in _declared(context)
        if each.path == file.path
    ]
    return declared or [_of_item(each, positions) for each in outline(file)]


def workspace_symbols(context: Context, params: Params) -> list[dict[str, Any]]:
    """What has a name like the query: its letters in their order, whole names first."""
    wanted = str(params.get("query", "")).lower()
    models = (
        Symbol(each.name, _MODEL, each.path, None, each.target.full_name)
        for each in context.project.models.values()
    )
    found = [each for each in (*models, *_declared(context)) if _is_like(each.name.lower(), wanted)]
    found.sort(key=lambda each: (wanted not in each.name.lower(), len(each.name), each.name))
    return [
        {
            "name": each.name,
            "kind": each.kind,
            "containerName": each.within,
            "location": context.location(each.path, each.span),
        }
        for each in found[:_MOST]
    ]


def _of_model(model: ModelFile, file: OpenFile, positions: TextPositions) -> dict[str, Any]:
    whole = Span(0, len(file.text))
    shown = _symbol(model.name, _MODEL, model.target.full_name, whole, positions)
    shown["selectionRange"] = positions.first_line()
    shown["children"] = [_of_item(each, positions) for each in outline(file)]
    return shown


def _of_item(item: OutlineItem, positions: TextPositions) -> dict[str, Any]:
    shown = _symbol(item.name, _KINDS[item.kind], item.detail, item.span, positions)
    shown["children"] = [_of_item(each, positions) for each in item.children]
    return shown


def _symbol(
    name: str, kind: int, detail: str, span: Span | None, positions: TextPositions
) -> dict[str, Any]:
    place = positions.range(span) if span is not None else positions.first_line()
    # A name that is empty is refused by editors.
    shown = {"name": name or "?", "kind": kind, "detail": detail}
    return {**shown, "range": place, "selectionRange": place}


def _declared(context: Context) -> Iterator[Symbol]:
    """What is declared besides models."""
    project = context.project
    for source in project.sources.values():
        if source.is_declared:
            yield Symbol(str(source.name), _TABLE, source.file, source.place, "source")
    for seed in project.seeds.values():
        yield Symbol(str(seed.name), _TABLE, seed.path, None, "seed")
    for macro in project.macros.values():
        yield Symbol(macro.name, _FUNCTION, macro.path, None, "macro")
    for function in project.functions.values():
        if function.signature.path is not None:
            place = function.signature.place
            yield Symbol(function.name, _FUNCTION, function.signature.path, place, "function")
    for contract in project.contracts.values():
        yield Symbol(contract.model, _MODEL, contract.path, None, "contract")


def _is_like(name: str, wanted: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in wanted)
