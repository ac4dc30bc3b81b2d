"""Usage: whether a model reads a column of an imported table, and where.

Lineage says what reaches values or decides about rows. Where it is silent, the model is bound once
more over the table without the column: if anything comes out otherwise, the column is read. `x - y`
and `y - x` come from the same columns, so the fingerprints of how values are computed are part of
what is compared. What then cannot be found is where it is named, so the same look gives the places;
a column that is read and named nowhere came through a star.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeVar

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.expr import WHOLE
from rocky.language.binder.logic.queries import Logic
from rocky.language.binder.query import BoundQuery
from rocky.language.datatypes.types import STRING, DataType, StructField
from rocky.language.ir import ModelIr
from rocky.project import ModelFile

Fields = tuple[StructField, ...]
Origin = tuple[str, str]
One = TypeVar("One")


class Rebind(Protocol):
    """Binds a model once more, some tables having other columns, or (None) not being there."""

    def __call__(self, reader: str, tables: Mapping[str, Fields | None]) -> BoundQuery: ...

    def logic(self, reader: str, tables: Mapping[str, Fields | None]) -> Logic:
        """The fingerprints of the model over the same tables."""


class Output(NamedTuple):
    """A column that comes out; `logic` is None where it could not be followed."""

    name: str | None
    type: DataType
    nullable: bool
    sources: frozenset[tuple[Origin, int]]
    logic: object


class Meaning(NamedTuple):
    """What a query gives, with where it comes from, and what is wrong with it."""

    outputs: tuple[Output, ...]
    rows: tuple[object, ...]
    wrong: frozenset[tuple[object, ...]]
    followed: bool
    failed: bool

    def says_as_much_as(self, other: "Meaning") -> bool:
        """Whether both give the same columns, in whatever order, and the same rows."""
        return self.takes_along(other) and len(self.outputs) == len(other.outputs)

    def takes_along(self, other: "Meaning") -> bool:
        """Whether this is all that the other gives, and nothing but further columns with it."""
        lost = Counter(other.outputs) - Counter(self.outputs)
        return not lost and self.rows == other.rows and self.wrong == other.wrong


def meaning_of(bound: BoundQuery, logic: Logic) -> Meaning:
    """What a bound query means."""
    wrong = frozenset((each.code, each.span) for each in bound.diagnostics)
    failed = any(each.severity is Severity.ERROR for each in bound.diagnostics)
    binding = bound.binding
    if binding is None:
        return Meaning((), (), wrong, followed=False, failed=failed)
    digests: Sequence[object] = logic.columns or ()
    if len(digests) != len(bound.columns):
        digests = [logic.columns] * len(bound.columns)
    outputs = tuple(
        Output(
            each.name,
            each.type,
            each.nullable,
            frozenset(
                (binding.origins[(source & WHOLE) >> 3], source & 7) for source in each.sources
            ),
            digest,
        )
        for each, digest in zip(bound.columns, digests, strict=True)
    )
    influences = frozenset((binding.origins[at], role) for at, role in binding.influences)
    rows = (influences, logic.rows, bound.known)
    return Meaning(outputs, rows, wrong, followed=logic.columns is not None, failed=failed)


def find_members(among: Sequence[One], matters: Callable[[Sequence[One]], bool]) -> list[One]:
    """The members that matter, told by asking about many at once: few do of many."""
    if not among or not matters(among):
        return []
    if len(among) == 1:
        return list(among)
    half = len(among) // 2
    return [*find_members(among[:half], matters), *find_members(among[half:], matters)]


class ColumnUse(NamedTuple):
    """Where a model reads a column, as places in its SQL. Not `named`, it comes through a star.

    `captured` is a column that makes the query read something else than without it.
    """

    places: tuple[Span, ...]
    named: bool
    captured: bool = False


_NAMES_IT: Final = frozenset({Code.UNKNOWN_COLUMN, Code.AMBIGUOUS_COLUMN})
_NOBODYS: Final = StructField("__rocky no such column", STRING, True)


@dataclass(frozen=True, slots=True)
class ImportReader:
    """One model over one imported table, which has `fields`: those of now and those that went."""

    model: ModelFile
    ir: ModelIr
    table: str
    fields: Fields
    rebind: Rebind

    def find_names(self, columns: Sequence[str]) -> list[str]:
        """The columns among `columns` that the model reads, by the name they were asked for."""
        if self.model.is_python:
            # Any input may be in any output of code that nobody reads.
            return list(columns)
        whole = self._bind(self.fields)
        if whole.binding is None:
            return []
        if any(each.code is Code.QUERY_NOT_UNDERSTOOD for each in whole.diagnostics):
            return list(columns)
        read = _origins(whole, self.table.lower())
        meaning = self._meaning(self.fields, whole)
        silent = [column for column in columns if column.lower() not in read]
        found = find_members(silent, lambda cut: meaning != self._meaning(self._without(cut)))
        return [column for column in columns if column.lower() in read or column in found]

    def find(self, columns: Sequence[str], added: Collection[str] = ()) -> dict[str, ColumnUse]:
        """What the model reads of `columns`, and where; those that were `added` may be captured."""
        read = self.find_names(columns)
        if self.model.is_python:
            return {column: ColumnUse((), named=column not in added) for column in read}
        if not read:
            return {}
        whole = self._bind(self.fields)
        named = find_members(read, lambda cut: bool(self._missed(whole, self._without(cut))))
        found = {column: self._named(whole, column) for column in named}
        captured = self._captured([each for each in read if each in added and each not in found])
        for column in read:
            if column not in found:
                found[column] = self._unnamed(column, captured=column in captured)
        return found

    def _captured(self, added: Sequence[str]) -> list[str]:
        """New columns that do more than come along."""
        if not added:
            return []
        meaning = self._meaning(self.fields)
        return find_members(
            added, lambda cut: not meaning.takes_along(self._meaning(self._without(cut)))
        )

    def needs_order(self) -> bool:
        """Whether the model reads by place."""
        return self.tells_apart(self.fields, (*self.fields[1:], *self.fields[:1]))

    def needs_exactly(self) -> bool:
        """Whether a column that came, of whatever name, would change more than come along."""
        if self.model.is_python:
            return False
        wider = self._meaning((*self.fields, _NOBODYS))
        return not wider.takes_along(self._meaning(self.fields))

    def takes_all(self) -> bool:
        """Whether a column that came would come out of the model."""
        if self.model.is_python:
            return True
        return self._meaning(self.fields) != self._meaning((*self.fields, _NOBODYS))

    def tells_apart(self, one: Fields, other: Fields) -> bool:
        """Whether the model reads otherwise when the same columns stand in another order."""
        if one == other:
            return False
        if self.model.is_python:
            return True
        first, second = self._meaning(one), self._meaning(other)
        if first.failed and second.failed:
            # What is wrong is told already, and this too once it is mended.
            return False
        followed = first.followed and second.followed
        return not followed or not first.says_as_much_as(second)

    def _bind(self, fields: Fields) -> BoundQuery:
        return self.rebind(self.model.key, {self.table.lower(): fields})

    def _meaning(self, fields: Fields, bound: BoundQuery | None = None) -> Meaning:
        tables = {self.table.lower(): fields}
        return meaning_of(bound or self._bind(fields), self.rebind.logic(self.model.key, tables))

    def _without(self, columns: Sequence[str]) -> Fields:
        cut = {column.lower() for column in columns}
        return tuple(each for each in self.fields if each.name.lower() not in cut)

    def _missed(self, whole: BoundQuery, fields: Fields) -> list[Diagnostic]:
        """The errors that come when the table has only these fields."""
        before = {(each.code, each.span) for each in whole.diagnostics}
        return [
            each
            for each in self._bind(fields).diagnostics
            if each.severity is Severity.ERROR
            and each.span is not None
            and (each.code, each.span) not in before
        ]

    def _named(self, whole: BoundQuery, column: str) -> ColumnUse:
        missed = self._missed(whole, self._without([column]))
        found = [each for each in missed if each.code in _NAMES_IT] or missed
        return ColumnUse(_spans(found), named=True)

    def _unnamed(self, column: str, *, captured: bool) -> ColumnUse:
        if self.ir.stars and not captured:
            return ColumnUse(self.ir.stars[:1], named=False)
        item = self._item(column)
        places = (item,) if item else self.table_places()
        return ColumnUse(places, named=item is not None, captured=captured)

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
    used = {(source & WHOLE) >> 3 for column in bound.columns for source in column.sources}
    used |= {origin for origin, _ in binding.influences}
    named = (binding.origins[each] for each in used)
    return {column.lower() for owner, column in named if owner.lower() == table}
