"""Lineage: which columns a column's values come from, and what a change reaches, over the typed IR.

A hop spans one model: from a column it reads to a column it makes. Influences are kept apart: they
decide which rows exist or in which order, and belong to the model as a whole. Names are compared
without case and come back as they are declared. Between whole models adjacency is enough, so no
column need be typed; a cycle is walked once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from rocky.language.ir import LINEAGE_KINDS, ModelIr

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
_Key = tuple[str, str]
NO_COPIES: Final[Mapping[str, Sequence[str]]] = {}


class Lineage:
    """The column graph of a project. The way down is indexed when first asked for."""

    def __init__(
        self,
        models: Mapping[str, ModelIr],
        tables: Mapping[str, Sequence[str]],
        copies: Mapping[str, Sequence[str]] = NO_COPIES,
    ) -> None:
        """`models` go by lower-case name, `tables` (sources and seeds) by declared name.

        `copies` are those tables that pipelines make, and what they make them from: a column there
        is the one of the same name above.
        """
        self._models = models
        self._copies = {name.lower(): made_from for name, made_from in copies.items()}
        self._tables = {name.lower(): (name, columns) for name, columns in tables.items()}
        self._names: dict[str, tuple[str, dict[str, str]]] = {}
        self._hops_up: dict[str, dict[str, list[Hop]]] = {}
        self._hops_down: dict[_Key, list[Hop]] | None = None
        self._rows_down: dict[_Key, list[RowHop]] = {}

    def hops_into(self, column: ColumnRef) -> Sequence[Hop]:
        """The columns one column is made from, within its model."""
        return self._up(column.table.lower()).get(column.column.lower(), ())

    def hops_from(self, column: ColumnRef) -> Sequence[Hop]:
        """The columns that are made from one column, in its direct readers."""
        down = self._hops_down
        if down is None:
            down = self._hops_down = self._index_down()
        return down.get(_key(column), ())

    def rows_of(self, table: str) -> Iterator[RowHop]:
        """What decides the rows of a model; nothing decides a source's."""
        model = self._models.get(table.lower())
        if model is not None:
            for each in model.influences:
                yield RowHop(self._declared(each.table, each.column), model.name, each.role)

    def rows_from(self, column: ColumnRef) -> Sequence[RowHop]:
        """The models whose rows one column decides."""
        self.hops_from(column)
        return self._rows_down.get(_key(column), ())

    def trace(self, start: ColumnRef, direction: Direction) -> Trace:
        """Follow values from `start` to the end. Linear in the hops on the way."""
        hops = self._walk(start, direction)
        columns = [start, *(self._far(hop, direction) for hop in hops)]
        if direction == "downstream":
            rows = [row for column in dict.fromkeys(columns) for row in self.rows_from(column)]
        else:
            made = dict.fromkeys(column.table for column in columns)
            rows = [row for table in made for row in self.rows_of(table)]
        reached = _strongest(start, hops, direction)
        return Trace(start, direction, tuple(hops), reached, tuple(dict.fromkeys(rows)))

    def _walk(self, start: ColumnRef, direction: Direction) -> list[Hop]:
        step = self.hops_into if direction == "upstream" else self.hops_from
        seen = {start}
        waiting = [start]
        hops: list[Hop] = []
        for column in waiting:
            for hop in step(column):
                hops.append(hop)
                far = self._far(hop, direction)
                if far not in seen:
                    seen.add(far)
                    waiting.append(far)
        return hops

    @staticmethod
    def _far(hop: Hop, direction: Direction) -> ColumnRef:
        return hop.source if direction == "upstream" else hop.target

    def _up(self, table: str) -> Mapping[str, list[Hop]]:
        """The hops into each column of a model, by lower-case column name."""
        found = self._hops_up.get(table)
        if found is None:
            found = self._hops_up[table] = {}
            model = self._models.get(table)
            for hop in self._hops_of(model) if model is not None else self._copied(table):
                found.setdefault(hop.target.column.lower(), []).append(hop)
        return found

    def _hops_of(self, model: ModelIr) -> Iterator[Hop]:
        for column in model.columns:
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

    def _index_down(self) -> dict[_Key, list[Hop]]:
        down: dict[_Key, list[Hop]] = {}
        for name in (*self._models, *(each for each in self._copies if each not in self._models)):
            for hops in self._up(name).values():
                for hop in hops:
                    down.setdefault(_key(hop.source), []).append(hop)
            for row in self.rows_of(name):
                self._rows_down.setdefault(_key(row.source), []).append(row)
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
            found = self._names[key] = name, {each.lower(): each for each in columns}
        return ColumnRef(found[0], found[1].get(column.lower(), column))


def _key(column: ColumnRef) -> _Key:
    return column.table.lower(), column.column.lower()


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
            far = hop.source if direction == "upstream" else hop.target
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
