"""Clauses: layers that one query can say are one, as a person would write it.

`orders.filter(...).select(...)` is `SELECT ... FROM orders WHERE ...`, so that the same query in
SQL and in Python has the same normal form, and so the same hash.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rocky.frames.fragments import AND, Fragment, joined, operand, sql
from rocky.frames.join_scope import JoinScope, follow
from rocky.frames.layers import Layer
from rocky.language.functions.catalogue import find_function

_TABLE: Final = re.compile(r"[\w.]+")
_CALLED: Final = re.compile(r"(\w+)`?\s*\(")
_WORDS: Final = frozenset("and between case cast else in like not or then try_cast when".split())
"""What may stand before a parenthesis and is no function."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """A query in its parts; `table` is FROM and all that belongs to it.

    `scope` is what names mean in a query over a join, and `whole` tells that it still gives all
    columns of it.
    """

    distinct: bool
    listed: Fragment
    table: Fragment
    where: tuple[Fragment, ...] = ()
    group: Fragment | None = None
    order: Fragment | None = None
    limit: Fragment | None = None
    scope: JoinScope | None = None
    whole: bool = False

    @property
    def passes_all(self) -> bool:
        """Whether it gives the columns of its table as they are."""
        simple = not self.distinct and self.group is None
        return simple and (self.whole or self.listed.text == "*")

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


def clauses_of_join(scope: JoinScope, table: Fragment) -> Clauses:
    """A join in its parts."""
    listed = sql("*") if scope.starred else scope.listed
    return Clauses(False, listed, table, scope=scope, whole=True)


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
        made = None
        if below in whole and readers[below] == 1:
            if clauses.table.text == f" FROM {below}":
                made = _merged(whole[below], clauses, below)
            elif clauses.scope is not None:
                made = _chained(whole[below], clauses, below)
        if made is not None:
            del bodies[below]
            clauses = made
        if made is not None or (clauses.scope is not None and clauses.scope.starred):
            bodies[each.name] = clauses.fragment
        whole[each.name] = clauses
    return bodies


def _merged(below: Clauses, above: Clauses, name: str) -> Clauses | None:
    """One query for two, the lower of that name; None where the order of clauses would change."""
    ends = below.order is not None or below.limit is not None
    texts = _texts(above)
    if below.scope is not None and (name in " ".join(texts) or not below.scope.admits(*texts)):
        return None
    if below.passes_all and not ends:
        return replace(
            above,
            listed=below.listed if above.listed.text == "*" else above.listed,
            table=below.table,
            where=(*below.where, *above.where),
            scope=below.scope,
            whole=below.whole and above.passes_all,
        )
    if not above.passes_all or above.where or below.limit is not None:
        return None
    if above.order is not None:
        return None if below.order is not None else replace(below, order=above.order)
    return replace(below, limit=above.limit) if above.limit is not None else None


def _chained(below: Clauses, above: Clauses, name: str) -> Clauses | None:
    """A join over a join or a filtered table, of that name, as one query."""
    assert above.scope is not None
    ends = below.order is not None or below.limit is not None
    if not below.passes_all or ends or not _keeps(above, below.where):
        return None
    tail = _without(above.table, f" FROM {name}")
    if below.scope is None:
        return _over_table(below, above.scope, tail, name)
    scope = above.scope.over(below.scope, name)
    rest = follow(tail, name, below.scope.reference)
    if scope is None or rest is None or not below.scope.admits("", scope.unqualified(rest.text)):
        return None
    return replace(clauses_of_join(scope, sql(below.table, rest)), where=below.where)


def _over_table(below: Clauses, scope: JoinScope, tail: Fragment, name: str) -> Clauses | None:
    """A join over a filtered table as a filtered join."""
    table = below.table.text.removeprefix(" FROM ")
    if not below.where or not _TABLE.fullmatch(table):
        return None
    alias = table.replace(".", "_")
    rest = follow(tail, name, lambda each: f"{alias}.{each}")
    moved = scope.over_table(name, table, alias)
    if rest is None or moved is None:
        return None
    if alias != table and moved.starred and rest == tail:
        moved = replace(moved, references={})
    elif alias != table:
        table = f"{table} AS {alias}"
    return replace(clauses_of_join(moved, sql(f" FROM {table}", rest)), where=below.where)


def _keeps(join: Clauses, conditions: tuple[Fragment, ...]) -> bool:
    """Whether conditions on its left side may as well be asked of a join's rows."""
    assert join.scope is not None
    if not conditions:
        return True
    texts = [each.text for each in conditions]
    # A right or full join has rows that such a condition would take away.
    whole = any(each in join.table.text for each in (" RIGHT JOIN ", " FULL OUTER JOIN "))
    return not (whole or any(map(_may_differ, texts))) and join.scope.admits("", *texts)


def _may_differ(text: str) -> bool:
    """Whether a condition calls what may answer otherwise for each row that it is asked of."""
    called = set(_CALLED.findall(text.lower())) - _WORDS
    known = map(find_function, called)
    return any(each is None or not each.deterministic for each in known)


def _texts(clauses: Clauses) -> tuple[str, ...]:
    rest = (*clauses.where, clauses.group, clauses.order, clauses.limit)
    return clauses.listed.text, *(each.text for each in rest if each is not None)


def _all_of(conditions: tuple[Fragment, ...]) -> Fragment:
    if len(conditions) == 1:
        return conditions[0]
    return joined(" AND ", [operand(each, AND) for each in conditions])


def _without(fragment: Fragment, prefix: str) -> Fragment:
    (text, site), *rest = fragment.pieces
    return Fragment(((text.removeprefix(prefix), site), *rest), fragment.level)
