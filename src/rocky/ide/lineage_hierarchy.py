"""Lineage as a hierarchy: what a table or a column is made from, and what is made from it.

Editors walk it as they walk calls: what reads a thing stands to it as a caller does.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rocky.analysis.lineage import ColumnRef, Hop
from rocky.ide.declaration import definition_of
from rocky.ide.symbols import Symbol, symbol_at
from rocky.ide.view import OpenFile, Place, View


class LineageItem(NamedTuple):
    """A table, or a column of one, and where it is defined; `kind` says how a value gets there."""

    symbol: Symbol
    name: str
    place: Place | None
    kind: str = ""


def lineage_at(file: OpenFile, offset: int) -> LineageItem | None:
    """The table or the column at an offset."""
    found = symbol_at(file, offset)
    if found is None or found.symbol.kind not in ("table", "column"):
        return None
    return _item(file.view, found.symbol)


def made_from(view: View, item: LineageItem) -> tuple[LineageItem, ...]:
    """What is one step above."""
    symbol = item.symbol
    if symbol.kind == "column":
        hops = view.lineage.hops_into(ColumnRef(symbol.name, symbol.column))
        return tuple(_columns(view, ((hop.source, hop) for hop in hops)))
    return tuple(_tables(view, view.upstream(_declared(view, symbol.name))))


def goes_to(view: View, item: LineageItem) -> tuple[LineageItem, ...]:
    """What is one step below."""
    symbol = item.symbol
    if symbol.kind == "column":
        return tuple(_columns(view, ((hop.target, hop) for hop in _hops_from(view, symbol))))
    return tuple(_tables(view, view.downstream(_declared(view, symbol.name))))


def _hops_from(view: View, symbol: Symbol) -> Iterator[Hop]:
    """The hops out of a column. Only readers are looked at: an index of all models takes long."""
    for reader in view.downstream(_declared(view, symbol.name)):
        key = reader.lower()
        ir = view.compilation.models.get(key)
        # What a pipeline copies keeps its name.
        names = [each.name for each in ir.columns] if ir is not None else [symbol.column]
        for name in names:
            for hop in view.lineage.hops_into(ColumnRef(key, name)):
                source = hop.source
                if (source.table.lower(), source.column.lower()) == symbol[1:3]:
                    yield hop


def _columns(view: View, ends: Iterable[tuple[ColumnRef, Hop]]) -> Iterator[LineageItem]:
    for end, hop in ends:
        symbol = Symbol("column", end.table.lower(), end.column.lower())
        yield _item(view, symbol)._replace(name=f"{end.table}.{end.column}", kind=hop.kind)


def _tables(view: View, names: Iterable[str]) -> Iterator[LineageItem]:
    for name in dict.fromkeys(names):
        yield _item(view, Symbol("table", name.lower()))


def _item(view: View, symbol: Symbol) -> LineageItem:
    places = definition_of(view, symbol)
    table = _declared(view, symbol.name)
    name = f"{table}.{symbol.column}" if symbol.column else table
    return LineageItem(symbol, name, places[0] if places else None)


def _declared(view: View, table: str) -> str:
    project = view.project
    found = project.models.get(table) or project.sources.get(table) or project.seeds.get(table)
    return found.name if found is not None else table
