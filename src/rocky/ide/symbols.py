"""Symbols: what a name at a place of a file stands for, the same wherever it is named.

A column or a table of the project is known by its names; what only one query knows (a CTE, an
alias, a column between its clauses) by the place where it was named. The first word of a query
stands for its model: that is where looking for the model's definition leads.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

from rocky.diagnostics.diagnostic import Span
from rocky.ide.mentions import Mention, mentions_in
from rocky.ide.python_frames import FramesInText, PlanFrames
from rocky.ide.python_tree import PythonTree
from rocky.ide.python_uses import Root, column_uses, output_root
from rocky.ide.view import OpenFile, Place, PlacedName, View
from rocky.language.ir import LINEAGE_KINDS
from rocky.language.macros.calls import Mention as MacroMention
from rocky.language.macros.calls import find_mentions
from rocky.language.quotes import find_quotes
from rocky.project.python_models import inputs_of

SymbolKind = Literal["table", "column", "local", "field", "function", "macro", "parameter"]


class Symbol(NamedTuple):
    """What a name stands for. Names are in lower case; `place` is that of what is local."""

    kind: SymbolKind
    name: str
    column: str = ""
    place: Place | None = None


class Found(NamedTuple):
    """A symbol and the place of the name that was looked at."""

    symbol: Symbol
    span: Span


_TEXT: Final = re.compile(r"(['\"])([A-Za-z_]\w*)\1")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def symbol_at(file: OpenFile, offset: int) -> Found | None:
    """What stands at an offset of a file; None for what is no name."""
    found = [each for each in symbols_in(file) if each.span.start <= offset <= each.span.end]
    return min(found, key=lambda each: each.span.end - each.span.start, default=None)


_KNOWN: Final["WeakKeyDictionary[OpenFile, tuple[Found, ...]]"] = WeakKeyDictionary()
"""What was found in files that somebody still looks at."""


def symbols_in(file: OpenFile) -> tuple[Found, ...]:
    """Every name of a file with what it stands for."""
    found = _KNOWN.get(file)
    if found is None:
        found = _KNOWN[file] = tuple(_find_symbols(file))
    return found


def _find_symbols(file: OpenFile) -> Iterator[Found]:
    for mention in mentions_in(file):
        yield Found(symbol_of_mention(mention), mention.span)
    match file.kind:
        case "sql" | "rocky":
            yield from _in_query(file)
        case "macro":
            yield from _in_macro(file)
        case "function":
            for function in file.view.project.functions.values():
                place = function.signature.place
                if function.signature.path == file.path and place is not None:
                    yield Found(Symbol("function", function.key), place)
        case "python":
            yield from _in_python(file)
        case _:
            pass


def _in_python(file: OpenFile) -> Iterator[Found]:
    """The tables that a Python model reads, and the columns that its code names."""
    frames = file.view.frames(file.path)
    if frames is None:
        return
    known = FramesInText(frames, PythonTree(file.text))
    tables = file.view.tables(frames.model.key)
    for each in inputs_of(frames.model):
        table, span = tables.find(each.parts), known.shifted(each.span)
        if table is not None and span is not None:
            yield Found(Symbol("table", table.name.lower()), span)
    if not frames.plan.sql:
        yield from _in_bare_python(file)
        return
    for use in column_uses(file.view, frames):
        span = known.shifted(use.span)
        for root in (use.root, use.other) if span is not None else ():
            symbol = python_symbol(file.view, frames, root) if root is not None else None
            if symbol is not None and span is not None:
                yield Found(symbol, span)


def _in_bare_python(file: OpenFile) -> Iterator[Found]:
    """Without a plan, texts that are the name of a column of just one table that is read."""
    model = file.model
    if model is None:
        return
    tables = file.view.tables(model.key)
    owners: dict[str, set[str]] = {}
    for each in inputs_of(model):
        table = tables.find(each.parts)
        if table is not None:
            for field in table.fields:
                owners.setdefault(field.name.lower(), set()).add(table.name.lower())
    for text in _TEXT.finditer(file.text):
        column = text[2].lower()
        found = sorted(owners.get(column, ()))
        if len(found) == 1:
            yield Found(Symbol("column", found[0], column), Span(*text.span(2)))


def python_symbol(view: View, frames: PlanFrames, root: Root) -> Symbol | None:
    """What a column of a Python model is: of a table, of the model itself, or of its code alone."""
    if root.frame < 0:
        return Symbol("column", root.table, root.column)
    if output_root(view, frames, root.column) == root:
        return Symbol("column", frames.model.key, root.column)
    uses = column_uses(view, frames)
    made = [each.span for each in uses if each.root == root and each.defines]
    place = made[0] if made else next((each.span for each in uses if each.root == root), None)
    if place is None:
        return None
    return Symbol("local", root.column, place=Place(frames.model.path, place))


def symbol_of_mention(mention: Mention) -> Symbol:
    if mention.column:
        return Symbol("column", mention.table.lower(), mention.column.lower())
    return Symbol("table", mention.table.lower())


def _in_query(file: OpenFile) -> Iterator[Found]:
    outputs = output_places(file)
    for name in file.names:
        symbol = _symbol_of(file, name, outputs)
        if symbol is not None:
            yield Found(symbol, name.span)
    for call in file.calls:
        yield Found(Symbol("function", call.name.lower()), call.span)
    yield from _macro_calls(file)
    first = first_word(file)
    if file.model is not None and first is not None:
        yield Found(Symbol("table", file.model.key), first)


def output_places(file: OpenFile) -> dict[Span, str]:
    """Where the columns of a model get their names in its file, and what these are."""
    notes, query = file.notes, file.query
    if notes is None or query is None:
        return {}
    found: dict[Span, str] = {}
    for column in notes[1].columns:
        use = column.place.meta if column.place is not None else {}
        if "start" in use:
            found[query.place(Span(use["start"], use["end"] + 1))] = column.key
    return found


def _symbol_of(file: OpenFile, name: PlacedName, outputs: dict[Span, str]) -> Symbol | None:
    use = name.use
    if use.role == "star":
        return None
    if use.role == "field":
        return Symbol("field", use.name.lower(), place=Place(file.path, name.span))
    if use.role == "table" and use.table is not None:
        return Symbol("table", use.table.lower())
    if use.table is not None and use.column is not None:
        return Symbol("column", use.table.lower(), use.column.lower())
    if use.role == "alias" and use.table is not None:
        return Symbol("table", use.table.lower())
    place = name.definition
    if place is None:
        return _from_origin(name)
    made = outputs.get(place)
    if made is not None and file.model is not None and use.role != "alias":
        # A plain column is named where it is read: there it is still that of its table.
        return Symbol("column", file.model.key, made)
    return Symbol("local", use.name.lower(), place=Place(file.path, place))


def _from_origin(name: PlacedName) -> Symbol | None:
    """A name that nobody gave in this file, if it is one column of a table as it is."""
    use = name.use
    if len(use.origins) == 1 and use.origins[0][2] == LINEAGE_KINDS[0]:
        table, column, _ = use.origins[0]
        return Symbol("column", table.lower(), column.lower())
    return None


def _macro_calls(file: OpenFile) -> Iterator[Found]:
    start = file.sql_start
    for mention in all_mentions(file.text[start:]):
        if mention.arguments is not None and mention.name.lower() in file.view.project.macros:
            at = mention.span.start + start + 1
            yield Found(Symbol("macro", mention.name.lower()), Span(at, at + len(mention.name)))


def all_mentions(text: str, start: int = 0) -> Iterator[MacroMention]:
    """The calls and parameters of a text, those in arguments too."""
    for each in find_mentions(text):
        yield each._replace(span=Span(each.span.start + start, each.span.end + start))
        for argument in each.arguments or ():
            low, high = argument.value
            yield from all_mentions(text[low:high], start + low)


def _in_macro(file: OpenFile) -> Iterator[Found]:
    macros = file.view.project.macros
    macro = next((each for each in macros.values() if each.path == file.path), None)
    if macro is None:
        return
    declared = macro.declaration
    yield Found(Symbol("macro", macro.key), declared.head)
    for each in declared.parameters:
        span = Span(each.span.start, each.span.start + len(each.name))
        yield Found(Symbol("parameter", each.key, place=Place(file.path, span)), span)
    for mention in all_mentions(file.text):
        at = mention.span.start + 1
        span = Span(at, at + len(mention.name))
        parameter = declared.parameter(mention.name)
        if mention.arguments is not None and mention.name.lower() in macros:
            yield Found(Symbol("macro", mention.name.lower()), span)
        elif parameter is not None:
            low = parameter.span.start
            place = Place(file.path, Span(low, low + len(parameter.name)))
            yield Found(Symbol("parameter", parameter.key, place=place), span)


def first_word(file: OpenFile) -> Span | None:
    """The first word of the query of a file."""
    at = file.sql_start
    for quote in find_quotes(file.text[at:]):
        low = at + quote.span.start
        if file.text[at:low].strip() or quote.kind != "comment":
            break
        at = file.sql_start + quote.span.end
    found = _WORD.search(file.text, at)
    return Span(*found.span()) if found is not None else None


def is_known(view: View, symbol: Symbol) -> bool:
    """Whether the project has the table that a symbol is, or is a column of."""
    project = view.project
    groups = (project.models, project.sources, project.seeds)
    return symbol.kind not in ("table", "column") or any(symbol.name in each for each in groups)
