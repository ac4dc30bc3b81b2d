"""Where an expression stands when its digest is made: what its names can mean.

The order of look-ups is the binder's: the relation, the select list, the query around, bare words.
A name that cannot be placed for certain has no digest: two texts are then never taken for equal.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rocky.binder.columns import BARE_FUNCTIONS
from rocky.binder.logic_digests import (
    EMPTY,
    LogicColumn,
    LogicRelation,
    Renames,
    Undigestible,
    find_columns,
    mark,
)
from rocky.catalog.tables import Tables

# Units of time stand where columns stand, and mean themselves when no column is called so.
_UNITS: Final = frozenset(
    "year quarter month week day dayofyear hour minute second millisecond microsecond".split()
)

Ctes = Mapping[str, Callable[[], LogicRelation]]


@dataclass(slots=True)
class Trail:
    """What is shared by all of one text: where tables are found, and the clauses met so far."""

    tables: Tables
    renames: Renames
    clauses: list[tuple[str, bytes]] = field(default_factory=list)
    chances: Counter[bytes] = field(default_factory=Counter)

    def note(self, clause: str, digest: bytes) -> bytes:
        """Remember a clause that decides rows, to be able to say later which one changed."""
        self.clauses.append((clause, digest))
        return digest

    def chance(self, digest: bytes) -> bytes:
        """The digest of a call that gives another value each time: no two of them are the same."""
        self.chances[digest] += 1
        return mark("chance", str(self.chances[digest]), digest)


@dataclass(slots=True)
class LogicScope:
    """`rows` is what aggregate and window functions see; absent where none may stand.

    `aliases` are those of the same select list, looked up after the relation; `first` is a list
    that is looked up before it, as ORDER BY does. `framed` are the rows window functions see where
    they are not those of aggregates; `depth` counts the lambdas around.
    """

    trail: Trail
    relation: LogicRelation
    parent: "LogicScope | None"
    ctes: Ctes
    rows: bytes = b""
    aliases: dict[str, bytes] = field(default_factory=dict)
    first: tuple[LogicColumn, ...] = ()
    lambdas: Mapping[str, bytes] = field(default_factory=dict)
    windows: Mapping[str, Any] = field(default_factory=dict)
    framed: bytes = b""
    depth: int = 0

    def inside(self, names: list[str]) -> "LogicScope":
        """The scope of a lambda's body: its parameters are known by place."""
        own = {name: mark("parameter", str(self.depth), str(at)) for at, name in enumerate(names)}
        return replace(self, lambdas={**self.lambdas, **own}, depth=self.depth + 1)


def scope_over(relation: LogicRelation, outer: LogicScope) -> LogicScope:
    """A scope over a relation, in the query that `outer` stands around."""
    return LogicScope(outer.trail, relation, outer, outer.ctes)


def outermost(trail: Trail) -> LogicScope:
    return LogicScope(trail, EMPTY, None, {})


def resolve(parts: tuple[str, ...], scope: LogicScope) -> bytes:
    """The digest of what a dotted name means. Raises Undigestible when that is not certain."""
    if parts[0] in scope.lambdas:
        return _fields(scope.lambdas[parts[0]], parts[1:])
    for columns in (scope.first, scope.relation.columns):
        found = _lookup(columns, parts)
        if found is not None:
            return found
    if parts[0] in scope.aliases:
        return _fields(scope.aliases[parts[0]], parts[1:])
    outer, depth = scope.parent, 1
    while outer is not None:
        found = _lookup(outer.relation.columns, parts)
        if found is not None:
            # The same table may be read inside and outside: its columns are not the same values.
            return mark("outer", str(depth), found)
        outer, depth = outer.parent, depth + 1
    if len(parts) == 1 and parts[0] in BARE_FUNCTIONS:
        return mark("call", parts[0])
    if len(parts) == 1 and parts[0] in _UNITS:
        return mark("unit", parts[0])
    raise Undigestible(f"the name `{'.'.join(parts)}`")


def _lookup(columns: tuple[LogicColumn, ...], parts: tuple[str, ...]) -> bytes | None:
    found, used = find_columns(columns, parts)
    if not found:
        return None
    digests = {column.digest for column in found}
    if len(digests) > 1:
        raise Undigestible(f"the name `{'.'.join(parts)}`, which several columns have")
    return _fields(digests.pop(), parts[used:])


def _fields(value: bytes, names: tuple[str, ...]) -> bytes:
    for name in names:
        value = mark("field", value, name)
    return value
