"""Clauses: layers that one query can say are one, as a person would write it.

`orders.filter(...).select(...)` is `SELECT ... FROM orders WHERE ...`, so that the same query in
SQL and in Python has the same normal form, and so the same hash.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rocky.frames.fragments import AND, Fragment, joined, operand, sql
from rocky.frames.layers import Layer


@dataclass(frozen=True, slots=True)
class Clauses:
    """A query in its parts; `table` is FROM and all that belongs to it."""

    distinct: bool
    listed: Fragment
    table: Fragment
    where: tuple[Fragment, ...] = ()
    group: Fragment | None = None
    order: Fragment | None = None
    limit: Fragment | None = None

    @property
    def passes_all(self) -> bool:
        """Whether it gives the columns of its table as they are."""
        return not self.distinct and self.group is None and self.listed.text == "*"

    @property
    def fragment(self) -> Fragment:
        parts: list[str | Fragment] = ["SELECT DISTINCT " if self.distinct else "SELECT "]
        parts += [self.listed, self.table]
        if self.where:
            parts += [" WHERE ", _all_of(self.where)]
        parts += [each for each in (self.group, self.order, self.limit) if each is not None]
        return sql(*parts)


def clauses_of(head: str, listed: Fragment, table: Fragment, rest: Fragment) -> Clauses | None:
    """The parts of a query; None for one that is left as it is."""
    made = Clauses("DISTINCT" in head, listed, table)
    text = rest.text
    if not text:
        return made
    if text.startswith(" WHERE "):
        return replace(made, where=(_without(rest, " WHERE "),))
    if text.startswith(" GROUP BY "):
        return replace(made, group=rest)
    if text.startswith(" ORDER BY "):
        return replace(made, order=rest)
    return replace(made, limit=rest) if text.startswith(" LIMIT ") else None


def fused_bodies(layers: Sequence[Layer]) -> dict[str, Fragment]:
    """The queries of layers by name, without those that became part of their only reader."""
    readers = Counter(below.name for each in layers if each.body for below in each.inputs)
    bodies: dict[str, Fragment] = {}
    whole: dict[str, Clauses] = {}
    for each in layers:
        if each.body is None:
            continue
        bodies[each.name] = each.body
        clauses = each.clauses
        if clauses is None:
            continue
        below = each.inputs[0].name if each.inputs else ""
        if below in whole and readers[below] == 1 and clauses.table.text == f" FROM {below}":
            made = _merged(whole[below], clauses)
            if made is not None:
                del bodies[below]
                clauses = made
                bodies[each.name] = made.fragment
        whole[each.name] = clauses
    return bodies


def _merged(below: Clauses, above: Clauses) -> Clauses | None:
    """One query for two, None where the order of their clauses would change."""
    ends = below.order is not None or below.limit is not None
    if below.passes_all and not ends:
        return replace(above, table=below.table, where=(*below.where, *above.where))
    if not above.passes_all or above.where or below.limit is not None:
        return None
    if above.order is not None:
        return None if below.order is not None else replace(below, order=above.order)
    return replace(below, limit=above.limit) if above.limit is not None else None


def _all_of(conditions: tuple[Fragment, ...]) -> Fragment:
    if len(conditions) == 1:
        return conditions[0]
    return joined(" AND ", [operand(each, AND) for each in conditions])


def _without(fragment: Fragment, prefix: str) -> Fragment:
    (text, site), *rest = fragment.pieces
    return Fragment(((text.removeprefix(prefix), site), *rest), fragment.level)
