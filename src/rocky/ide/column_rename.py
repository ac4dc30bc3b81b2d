"""Renaming a column: the edits in every file that names it.

A reader that passes the column on keeps its own names: `gross` becomes `total AS gross` there, so a
change ends at the next model. Only where a star passes it on does the new name go further, because
nobody wrote the old one.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.ide.declaration import column_places
from rocky.ide.edits import Refused, TextEdit
from rocky.ide.mentions import mentions_in
from rocky.ide.python_rename import (
    code_edits,
    code_obstacle,
    is_named,
    local_edits,
    passes_on,
)
from rocky.ide.references import references_of
from rocky.ide.symbols import Symbol, output_places, symbols_in
from rocky.ide.view import OpenFile, Place, View
from rocky.language.binder.name_uses import NameUse
from rocky.language.ir import LINEAGE_KINDS
from rocky.language.names import bare_name, quote_if_needed
from rocky.project import ModelFile

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_PATH: Final = re.compile(r"(?:(?:`[^`]*`|\w+)\s*\.\s*)*$")
_ITEM_BEGINS: Final = re.compile(r"(?:,|\b(?:select|distinct|all))\s*$", re.IGNORECASE)
_ENTRY_BEGINS: Final = re.compile(r"[{,]\s*$")
_ALIAS: Final = re.compile(r"\s+(?:as\s+)?(`[^`]*`|\w+)", re.IGNORECASE)
_LABEL: Final = re.compile(r"(`[^`]*`|\w+)\s*:\s*$")


def rename_column(view: View, symbol: Symbol, new: str) -> list[TextEdit] | Refused:
    """The edits that rename a column of a model or a seed."""
    edits: list[TextEdit] = []
    waiting, done = [symbol], set[Symbol]()
    while waiting:
        column = waiting.pop()
        if column in done:
            continue
        done.add(column)
        reason = _obstacle(view, column, new, first=column is symbol)
        if reason is not None:
            return Refused(reason)
        if column is symbol:
            edits += _definition_edits(view, column, new)
        edits += _use_edits(view, column, new)
        waiting += _passed_on(view, column)
    return list(dict.fromkeys(edits))


def renamed_columns(view: View, symbol: Symbol) -> set[tuple[str, str]]:
    """The (table, column) pairs that get the new name: the column, and where stars pass it on."""
    waiting, done = [symbol], set[Symbol]()
    while waiting:
        column = waiting.pop()
        if column not in done:
            done.add(column)
            waiting += _passed_on(view, column)
    return {(each.name, each.column) for each in done}


def _obstacle(view: View, column: Symbol, new: str, *, first: bool) -> str | None:
    project = view.project
    model = project.models.get(column.name)
    if column.name in project.sources:
        return (
            f"`{column.column}` is a column of the source `{column.name}`, whose table this project"
            " does not make"
        )
    if model is not None and new.lower() != column.column:
        ir = view.compilation.models.get(model.key)
        if ir is not None and ir.column(new) is not None:
            return f"`{model.name}` has a column `{new}` already"
    python = model is not None and model.is_python
    if first and model is not None and python and not is_named(view, model, column.column):
        return (
            f"`{model.name}` is a Python model, and no text of its code that could be changed is"
            f" the name of `{column.column}`"
        )
    if (
        first
        and model is not None
        and not python
        and not column_places_of(view, model, column.column)
    ):
        return (
            f"`{column.column}` is not named in `{model.name}`: a star or a setting brings it;"
            " rename it where it is made, or list the columns first"
        )
    for each in _about(view, column.name):
        reason = code_obstacle(view, each, column.name, column.column) if each.is_python else None
        if reason is not None:
            return reason
    return None


def _about(view: View, table: str) -> list[ModelFile]:
    """The models that read a table, and that which it is."""
    project = view.project
    own = project.models.get(table)
    declared = own or project.seeds.get(table)
    found = view.readers(declared.name if declared is not None else table)
    return [*found, *([own] if own is not None else [])]


def column_places_of(view: View, model: ModelFile, column: str) -> tuple[Place, ...]:
    """Where a model itself names a column."""
    ir = view.compilation.models.get(model.key)
    made = ir.column(column) if ir is not None else None
    if made is None or made.span is None:
        return ()
    return tuple(each for each in column_places(view, model.key, column) if each.path == model.path)


def _passed_on(view: View, column: Symbol) -> Iterator[Symbol]:
    """The columns of readers that are this one by a star."""
    project = view.project
    declared = project.models.get(column.name) or project.seeds.get(column.name)
    for reader in view.readers(declared.name if declared is not None else column.name):
        ir = view.compilation.models.get(reader.key)
        if reader.is_python:
            if passes_on(view, reader, column.name, column.column):
                yield Symbol("column", reader.key, column.column)
            continue
        for each in ir.columns if ir is not None else ():
            ways = {(edge.table.lower(), edge.column.lower()) for edge in each.edges}
            plain = all(edge.kind == LINEAGE_KINDS[0] for edge in each.edges)
            same = each.name.lower() == column.column
            if each.span is None and plain and same and ways == {(column.name, column.column)}:
                yield Symbol("column", reader.key, column.column)


def _definition_edits(view: View, column: Symbol, new: str) -> Iterator[TextEdit]:
    model = view.project.models.get(column.name)
    if model is None or model.is_python:
        return
    file = view.open(model.path)
    for place in column_places_of(view, model, column.column):
        found = file.name_at(place.span.start)
        aliased = found is not None and found.span == place.span and found.use.role == "output"
        if aliased:
            yield _replace_alias(file, place.span, new)
        else:
            yield _give_name(file, place.span, new)


def _use_edits(view: View, column: Symbol, new: str) -> Iterator[TextEdit]:
    defined = set(column_places(view, column.name, column.column))
    by_path: dict[str, list[Span]] = {}
    for place in references_of(view, column):
        if place not in defined or column.name not in view.project.models:
            by_path.setdefault(place.path, []).append(place.span)
    for model in _about(view, column.name):
        if model.is_python:
            yield from code_edits(view, model, column.name, column.column, new)
    for path, spans in by_path.items():
        file = view.open(path)
        if file.kind == "python":
            continue
        mentioned = {each.span for each in mentions_in(file)}
        naming = naming_places(file)
        for span in spans:
            if span in mentioned:
                yield TextEdit(path, span, _as_mention(file, span, new))
            else:
                yield from use_edits(file, span, new, names=span in naming)


def rename_local(file: OpenFile, symbol: Symbol, new: str) -> list[TextEdit]:
    """The edits that rename what only one query knows: a CTE, an alias, a column in between."""
    if file.kind == "python":
        return local_edits(file.view, file.path, symbol.place.span if symbol.place else None, new)
    edits: list[TextEdit] = []
    naming = naming_places(file)
    place = symbol.place.span if symbol.place is not None else None
    for each in symbols_in(file):
        if each.symbol != symbol or each.span == place:
            continue
        edits += use_edits(file, each.span, new, names=each.span in naming)
    if place is None:
        return edits
    found = file.name_at(place.start)
    exact = found is not None and found.span == place
    if not exact or (found is not None and found.use.role in ("column", "field", "lateral")):
        edits.append(_give_name(file, place, new))
    elif found is not None and found.use.role == "output":
        edits.append(_replace_alias(file, place, new))
    else:
        edits.append(TextEdit(file.path, place, written(new)))
    return list(dict.fromkeys(edits))


def naming_places(file: OpenFile) -> set[Span]:
    """Where columns get the names by which they are known further out."""
    query = file.query
    if query is None:
        return set()
    found = set(output_places(file))
    found |= {query.place(span) for span in _definitions(each.use for each in file.names)}
    aliased = {each.span for each in file.names if each.use.role in ("output", "alias", "cte")}
    return found - aliased


def _definitions(uses: Iterable[NameUse]) -> Iterator[Span]:
    for use in uses:
        if use.definition is not None:
            yield use.definition
        yield from (each.definition for each in use.members if each.definition is not None)


def use_edits(file: OpenFile, span: Span, new: str, *, names: bool) -> Iterator[TextEdit]:
    """The edits of one use; where it `names` a column further out, that name stays."""
    old = file.text[span.start : span.end]
    if file.kind == "rocky":
        yield from _entry_edits(file, span, new, old if names else None)
        return
    alias = _ALIAS.match(file.text, span.end)
    if names:
        yield TextEdit(file.path, span, f"{written(new)} {_as(file)} {old}")
    elif alias is not None and bare_name(alias[1]) == new and _is_item(file, span):
        # `gross AS total` becomes `total`: a name that says itself is not written.
        yield TextEdit(file.path, Span(span.start, alias.end()), alias[1])
    else:
        yield TextEdit(file.path, span, written(new))


def _entry_edits(file: OpenFile, span: Span, new: str, kept: str | None) -> Iterator[TextEdit]:
    """The same in a pipeline, where a name stands before what it names."""
    start = _path_start(file.text, span.start)
    label = _LABEL.search(file.text, 0, start)
    if kept is not None:
        yield TextEdit(file.path, Span(start, start), f"{kept}: ")
    elif label is not None and bare_name(label[1]) == new and _is_item(file, label):
        yield TextEdit(file.path, Span(label.start(), start), "")
    yield TextEdit(file.path, span, written(new))


def _give_name(file: OpenFile, span: Span, new: str) -> TextEdit:
    """A name for a select item that had that of its column, or none."""
    if file.kind == "rocky":
        start = _path_start(file.text, span.start)
        return TextEdit(file.path, Span(start, start), f"{written(new)}: ")
    return TextEdit(file.path, Span(span.end, span.end), f" {_as(file)} {written(new)}")


def _replace_alias(file: OpenFile, span: Span, new: str) -> TextEdit:
    """Another alias; none where the item is a column of just that name."""
    if file.kind == "rocky":
        after = re.compile(r"\s*:\s*((?:(?:`[^`]*`|\w+)\s*\.\s*)*)(`[^`]*`|\w+)\s*(?=[,}])")
        item = after.match(file.text, span.end)
        if item is not None and bare_name(item[2]) == new and _is_item(file, span):
            return TextEdit(file.path, Span(span.start, item.start(1)), "")
        return TextEdit(file.path, span, written(new))
    before = re.search(r"(`[^`]*`|\w+)(\s+(?:as\s+)?)$", file.text[: span.start], re.IGNORECASE)
    if before is not None and bare_name(before[1]) == new:
        word = Span(before.start(1), before.end(1))
        if _is_item(file, word):
            return TextEdit(file.path, Span(word.end, span.end), "")
    return TextEdit(file.path, span, written(new))


def _is_item(file: OpenFile, span: "Span | re.Match[str]") -> bool:
    """Whether the path that ends in a word begins a select item, or an entry of a step."""
    start = span.start() if isinstance(span, re.Match) else span.start
    code = file.code[: _path_start(file.text, start)]
    begins = _ENTRY_BEGINS if file.kind == "rocky" else _ITEM_BEGINS
    return begins.search(code) is not None


def _path_start(text: str, at: int) -> int:
    """Where the dotted name begins whose last part begins at an offset."""
    found = _PATH.search(text[:at])
    return found.start() if found is not None else at


def _as(file: OpenFile) -> str:
    """The word AS in the letters that the author writes words in."""
    return "as" if "select" in file.code and "SELECT" not in file.code else "AS"


def written(name: str) -> str:
    """A name as a query writes it."""
    return quote_if_needed(name)


def _as_mention(file: OpenFile, span: Span, new: str) -> str:
    """A name as TOML or a header writes it: a bare key gets quotes where it needs them."""
    quoted = file.text[span.start - 1 : span.start] in ("'", '"')
    if quoted or file.kind == "seed" or _BARE_KEY.fullmatch(new):
        return new
    return '"' + new.replace("\\", "\\\\").replace('"', '\\"') + '"'
