"""Lineage: which columns a column's values come from, and what a change reaches, over the typed IR.

A hop spans one model: from a column it reads to a column it makes. Influences are kept apart: they
decide which rows exist or in which order, and belong to the model as a whole. Names are compared
without case and come back as they are declared. Between whole models adjacency is enough, so no
column need be typed; a cycle is walked once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from rocky.language.ir import LINEAGE_KINDS

Direction = Literal["upstream", "downstream"]


class ColumnRef(NamedTuple):
    """A column of a model, a source or a seed."""

    table: str
    column: str


class Hop(NamedTuple):
    """`target` is made from `source` in the way `kind` says."""

    source: ColumnRef
    target: ColumnRef
    kind: str


class RowHop(NamedTuple):
    """`source` decides rows of `model`: it is in a filter, a join, a grouping or an ordering."""

    source: ColumnRef
    model: str
    role: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one column comes from, or goes to.

    `hops` are in order of distance. `reached` says of each column on the way how the value
    travelled between it and the start: the strongest kind on any path.
    """

    start: ColumnRef
    direction: Direction
    hops: tuple[Hop, ...]
    reached: Mapping[ColumnRef, str]
    influences: tuple[RowHop, ...]


_STRENGTH: Final = {kind: strength for strength, kind in enumerate(LINEAGE_KINDS)}
NO_COPIES: Final[Mapping[str, Sequence[str]]] = {}


class TracedEdge(Protocol):
    """A column that a column is made from."""

    @property
    def table(self) -> str: ...
    @property
    def column(self) -> str: ...
    @property
    def kind(self) -> str: ...


class TracedInfluence(Protocol):
    """A column that decides rows."""

    @property
    def table(self) -> str: ...
    @property
    def column(self) -> str: ...
    @property
    def role(self) -> str: ...


class TracedColumn(Protocol):
    """What the graph needs of a column."""

    @property
    def name(self) -> str: ...
    @property
    def edges(self) -> Sequence[TracedEdge]: ...


class TracedModel(Protocol):
    """What the graph needs of a model: a `ModelIr` has it, and types that nobody asks for here."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[TracedColumn]: ...
    @property
    def influences(self) -> Sequence[TracedInfluence]: ...


class _Below(NamedTuple):
    """What is made from one table, by its columns in lower case."""

    hops: dict[str, list[Hop]]
    rows: dict[str, list[RowHop]]


_NOTHING: Final = _Below({}, {})


class Lineage:
    """The column graph of a project.

    It is made table by table as it is walked where its `readers` are known, and else, on the way
    down, as a whole. What is made is only ever added, whole, so threads may share one.
    """

    def __init__(
        self,
        models: Mapping[str, TracedModel],
        tables: Mapping[str, Sequence[str]],
        copies: Mapping[str, Sequence[str]] = NO_COPIES,
        readers: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """`models` go by lower-case name, `tables` (sources and seeds) by declared name.

        `copies` are those tables that pipelines make, and what they make them from: a column there
        is the one of the same name above. `readers` are the direct readers of each table, by its
        declared name.
        """
        self._models = models
        self._copies = {name.lower(): made_from for name, made_from in copies.items()}
        self._tables = {name.lower(): (name, columns) for name, columns in tables.items()}
        self._readers = readers
        self._names: dict[str, tuple[str, dict[str, ColumnRef]]] = {}
        self._hops_up: dict[str, dict[str, list[Hop]]] = {}
        self._hops_down: dict[str, _Below] = {}
        self._is_whole = False

    def hops_into(self, column: ColumnRef) -> Sequence[Hop]:
        """The columns one column is made from, within its model."""
        return self._up(column.table.lower()).get(column.column.lower(), ())

    def hops_from(self, column: ColumnRef) -> Sequence[Hop]:
        """The columns that are made from one column, in its direct readers."""
        return self._down(column.table).hops.get(column.column.lower(), ())

    def rows_of(self, table: str) -> Iterator[RowHop]:
        """What decides the rows of a model; nothing decides a source's."""
        model = self._models.get(table.lower())
        if model is not None:
            for each in model.influences:
                yield RowHop(self._declared(each.table, each.column), model.name, each.role)

    def rows_from(self, column: ColumnRef) -> Sequence[RowHop]:
        """The models whose rows one column decides."""
        return self._down(column.table).rows.get(column.column.lower(), ())

    def trace(self, start: ColumnRef, direction: Direction) -> Trace:
        """Follow values from `start` to the end. Linear in the hops on the way."""
        hops = self.walk(start, direction)
        reached = _strongest(start, hops, direction)
        rows = self.rows_along(start, hops, direction)
        return Trace(start, direction, tuple(hops), reached, rows)

    def walk(self, start: ColumnRef, direction: Direction) -> list[Hop]:
        """All hops between `start` and the end, in order of distance."""
        step = self.hops_into if direction == "upstream" else self.hops_from
        seen = {start}
        waiting = [start]
        hops: list[Hop] = []
        for column in waiting:
            for hop in step(column):
                hops.append(hop)
                far = _far(hop, direction)
                if far not in seen:
                    seen.add(far)
                    waiting.append(far)
        return hops

    def rows_along(
        self, start: ColumnRef, hops: Iterable[Hop], direction: Direction
    ) -> tuple[RowHop, ...]:
        """The rows that columns on a way decide; upstream, what decides the rows there."""
        columns = dict.fromkeys((start, *(_far(hop, direction) for hop in hops)))
        if direction == "downstream":
            rows = [row for column in columns for row in self.rows_from(column)]
        else:
            made = dict.fromkeys(column.table for column in columns)
            rows = [row for table in made for row in self.rows_of(table)]
        return tuple(dict.fromkeys(rows))

    # ------------------------------------------------------------------ what was made of it

    def _up(self, table: str) -> Mapping[str, list[Hop]]:
        """The hops into each column of a model, by lower-case column name."""
        found = self._hops_up.get(table)
        if found is None:
            found = {}
            model = self._models.get(table)
            for hop in self._hops_of(model) if model is not None else self._copied(table):
                found.setdefault(hop.target.column.lower(), []).append(hop)
            self._hops_up[table] = found
        return found

    def _hops_of(self, model: TracedModel) -> Iterator[Hop]:
        for column in model.columns:
            target = self._declared(model.name, column.name)
            if target.column != column.name:
                # Two columns differ by case alone: a finding says so, and each is what it is.
                target = ColumnRef(model.name, column.name)
            for edge in column.edges:
                yield Hop(self._declared(edge.table, edge.column), target, edge.kind)

    def _copied(self, table: str) -> Iterator[Hop]:
        name, columns = self._tables.get(table, (table, ()))
        for above in self._copies.get(table, ()):
            for column in columns:
                source = self._declared(above, column)
                if column.lower() in self._names[above.lower()][1]:
                    yield Hop(source, ColumnRef(name, column), LINEAGE_KINDS[0])

    def _down(self, table: str) -> _Below:
        """What is made from a table."""
        key = table.lower()
        found = self._hops_down.get(key)
        if found is not None:
            return found
        if self._readers is None:
            if not self._is_whole:
                self._hops_down = self._index_all()
                self._is_whole = True
            return self._hops_down.get(key, _NOTHING)
        found = _Below({}, {})
        name = self._declared(table, "").table
        for reader in self._in_order(each.lower() for each in self._readers.get(name, ())):
            for hop in self._hops_into_all(reader):
                if hop.source.table.lower() == key:
                    found.hops.setdefault(hop.source.column.lower(), []).append(hop)
            for row in self.rows_of(reader):
                if row.source.table.lower() == key:
                    found.rows.setdefault(row.source.column.lower(), []).append(row)
        self._hops_down[key] = found
        return found

    def _in_order(self, readers: Iterable[str]) -> list[str]:
        """Models by name, then copies as they are declared: one question has one answer."""
        found = set(readers)
        models = sorted(each for each in found if each in self._models)
        others = found.difference(models)
        return [*models, *(each for each in self._copies if each in others)]

    def _hops_into_all(self, table: str) -> Iterator[Hop]:
        return (hop for hops in self._up(table).values() for hop in hops)

    def _index_all(self) -> dict[str, _Below]:
        down: dict[str, _Below] = {}
        for name in (*self._models, *(each for each in self._copies if each not in self._models)):
            for hop in self._hops_into_all(name):
                below = down.setdefault(hop.source.table.lower(), _Below({}, {}))
                below.hops.setdefault(hop.source.column.lower(), []).append(hop)
            for row in self.rows_of(name):
                below = down.setdefault(row.source.table.lower(), _Below({}, {}))
                below.rows.setdefault(row.source.column.lower(), []).append(row)
        return down

    def _declared(self, table: str, column: str) -> ColumnRef:
        """The column under its declared names, or as it came when nothing declares it."""
        key = table.lower()
        found = self._names.get(key)
        if found is None:
            model = self._models.get(key)
            if model is not None:
                name, columns = model.name, [each.name for each in model.columns]
            else:
                name, declared = self._tables.get(key, (table, ()))
                columns = list(declared)
            found = self._names[key] = (
                name,
                {each.lower(): ColumnRef(name, each) for each in columns},
            )
        return found[1].get(column.lower()) or ColumnRef(found[0], column)


def _far(hop: Hop, direction: Direction) -> ColumnRef:
    return hop.source if direction == "upstream" else hop.target


def _strongest(start: ColumnRef, hops: Sequence[Hop], direction: Direction) -> dict[ColumnRef, str]:
    """The strongest kind on any path between `start` and each column.

    A column is looked at again only when a stronger way to it turns up, so at most once
    for each kind.
    """
    onward: dict[ColumnRef, list[Hop]] = {}
    for hop in hops:
        near = hop.target if direction == "upstream" else hop.source
        onward.setdefault(near, []).append(hop)
    best: dict[ColumnRef, int] = {start: 0}
    waiting = [start]
    while waiting:
        column = waiting.pop()
        for hop in onward.get(column, ()):
            far = _far(hop, direction)
            strength = max(best[column], _STRENGTH[hop.kind])
            if best.get(far, -1) < strength:
                best[far] = strength
                waiting.append(far)
    del best[start]
    return {column: LINEAGE_KINDS[strength] for column, strength in best.items()}


def reach_models(neighbours: Mapping[str, Iterable[str]], start: Iterable[str]) -> set[str]:
    """Everything that can be reached from `start`, which is included."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for each in neighbours.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def model_edges(
    neighbours: Mapping[str, Iterable[str]], start: Iterable[str]
) -> list[tuple[str, str]]:
    """The edges among what can be reached from `start`, each from a node to its neighbour."""
    reached = reach_models(neighbours, start)
    return sorted((name, each) for name in reached for each in set(neighbours.get(name, ())))
