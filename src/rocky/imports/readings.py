"""Readings: whether a model reads a column of an imported table, and where.

Lineage says what reaches values or decides about rows. Where it is silent, the model is bound once
more over the table without the column: if anything comes out otherwise, the column is read. What
then cannot be found is where it is named, so the same look gives the places; a column that is read
and named nowhere came through a star.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from rocky.binder.query import BoundQuery
from rocky.datatypes.types import StructField
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.ir.model import ModelIr
from rocky.project import ModelFile
from rocky.source import Span

Fields = tuple[StructField, ...]


class Rebind(Protocol):
    """Binds a model once more, some tables having other columns, or (None) not being there."""

    def __call__(self, reader: str, tables: Mapping[str, Fields | None]) -> BoundQuery: ...


class Reading(NamedTuple):
    """Where a model reads a column, as places in its SQL. Not `named`, it comes through a star."""

    places: tuple[Span, ...]
    named: bool


_NAMES_IT: Final = frozenset({Code.UNKNOWN_COLUMN, Code.AMBIGUOUS_COLUMN})


@dataclass(frozen=True, slots=True)
class TableReader:
    """One model over one imported table, which has `fields`: those of now and those that went."""

    model: ModelFile
    ir: ModelIr
    table: str
    fields: Fields
    rebind: Rebind

    def find(self, columns: Sequence[str]) -> dict[str, Reading]:
        """The columns among `columns` that the model reads, by the name they were asked for."""
        if self.model.is_python:
            # Any input may be in any output of code that nobody reads.
            return {column: Reading((), named=True) for column in columns}
        key = self.table.lower()
        whole = self.rebind(self.model.key, {key: self.fields})
        if whole.binding is None:
            return {}
        read = _origins(whole, key)
        found: dict[str, Reading] = {}
        for column in columns:
            kept = tuple(each for each in self.fields if each.name.lower() != column.lower())
            cut = self.rebind(self.model.key, {key: kept})
            if column.lower() in read or _meaning(whole) != _meaning(cut):
                found[column] = self._place(whole, cut, column)
        return found

    def _place(self, whole: BoundQuery, cut: BoundQuery, column: str) -> Reading:
        before = {(each.code, each.span) for each in whole.diagnostics}
        new = [
            each
            for each in cut.diagnostics
            if each.severity is Severity.ERROR
            and each.span is not None
            and (each.code, each.span) not in before
        ]
        named = [each for each in new if each.code in _NAMES_IT] or new
        if named:
            return Reading(_spans(named), named=True)
        if self.ir.stars:
            return Reading(self.ir.stars[:1], named=False)
        item = self._item(column)
        return Reading((item,) if item else self.table_places(), named=item is not None)

    def _item(self, column: str) -> Span | None:
        """The select item that a column goes into."""
        key, name = self.table.lower(), column.lower()
        for each in self.ir.columns:
            if each.span is not None and any(
                edge.table.lower() == key and edge.column.lower() == name for edge in each.edges
            ):
                return each.span
        return None

    def table_places(self) -> tuple[Span, ...]:
        """Where the query names the table."""
        if self.model.is_python:
            return ()
        gone = self.rebind(self.model.key, {self.table.lower(): None})
        return _spans([each for each in gone.diagnostics if each.code is Code.UNKNOWN_TABLE])


def _spans(found: Sequence[Diagnostic]) -> tuple[Span, ...]:
    return tuple(sorted({each.span for each in found if each.span is not None}))


def _origins(bound: BoundQuery, table: str) -> set[str]:
    """The columns of a table that values are made from, or that decide about rows."""
    binding = bound.binding
    assert binding is not None
    used = {source >> 3 for column in bound.columns for source in column.sources}
    used |= {origin for origin, _ in binding.influences}
    named = (binding.origins[each] for each in used)
    return {column.lower() for owner, column in named if owner.lower() == table}


def _meaning(bound: BoundQuery) -> tuple[object, ...]:
    """What a query gives, with where it comes from, and what is wrong with it."""
    binding = bound.binding
    wrong = [(each.code, each.span) for each in bound.diagnostics]
    if binding is None:
        return (wrong,)
    columns = [
        (
            each.name,
            each.type,
            each.nullable,
            {(binding.origins[source >> 3], source & 7) for source in each.sources},
        )
        for each in bound.columns
    ]
    rows = {(binding.origins[at], role) for at, role in binding.influences}
    return (columns, rows, bound.known, wrong)
