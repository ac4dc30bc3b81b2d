"""Digests of logic: values that are equal when two texts compute the same in the same way.

A column is known by the digest of what it is computed from, down to columns of tables; a relation
by digests of its columns and of what decides its rows. Names of CTEs and aliases are in neither.
Names are looked up in the binder's order, and one that cannot be placed for certain has no digest:
two texts are then never taken for equal.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from blake3 import blake3

from rocky.language.binder.expressions.columns import BARE_FUNCTIONS
from rocky.language.tables import Tables


class Undigestible(Exception):
    """A construct of which no digest can be had; the message is a clause that names it."""


def check_arguments(node: Any, understood: frozenset[str]) -> None:
    """Raise Undigestible for a node with an argument that its digest would leave out."""
    for name, value in node.args.items():
        if value and name not in understood:
            raise Undigestible(f"`{name}` in a {node.__class__.__name__}")


def digest_of(kind: str, *parts: bytes | str) -> bytes:
    """The digest of a node: what it is and what it is made of, in order."""
    hasher = blake3(kind.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(4, "big"))
        hasher.update(data)
    return hasher.digest(16)


def equality(one: bytes, other: bytes) -> bytes:
    """The digest of `one = other`, which is that of `other = one`."""
    return digest_of("EQ", *sorted((one, other)))


def digest_repeat(digest: bytes, leaves: frozenset[str]) -> tuple[bytes, frozenset[str]]:
    """A generator over rows below which the same one may stand: another value, and another leaf."""
    name, times = digest.hex(), 0
    while f"{name} {times}" in leaves:
        times += 1
    return (digest_of("again", str(times), digest) if times else digest), leaves | {
        f"{name} {times}"
    }


@dataclass(frozen=True, slots=True)
class Renames:
    """Names that mean on this side what another name means on the other; all in lower case.

    `tables` leads from a table to its other name, `columns` from a table (by the name it has on
    this side) and a column to the column's other name.
    """

    tables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    columns: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))

    def table(self, name: str) -> str:
        return self.tables.get(name.lower(), name.lower())

    def column(self, table: str, name: str) -> str:
        return self.columns.get((table.lower(), name.lower()), name.lower())


NO_RENAMES: Final = Renames()


@dataclass(frozen=True, slots=True)
class LogicColumn:
    """A column that can be named by the path `qualifier`; a `hidden` one by nothing else.

    `written` is its name with the letters it was given: functions write it into their results.
    """

    name: str
    digest: bytes
    qualifier: tuple[str, ...] = ()
    hidden: bool = False
    written: str = ""

    @property
    def label(self) -> str:
        return self.written or self.name


@dataclass(frozen=True, slots=True)
class LogicRelation:
    """Columns, and what decides the rows.

    The rows are the product of `bases` as far as `filters` let them through: kept apart so that a
    filter reads the same inside a CTE and outside it. `leaves` are what is read below, tables and
    generators, `order` the keys the rows come in order of: they decide rows only where a LIMIT
    counts them.
    """

    columns: tuple[LogicColumn, ...]
    bases: tuple[bytes, ...]
    filters: frozenset[bytes] = frozenset()
    leaves: frozenset[str] = frozenset()
    order: tuple[bytes, ...] = ()

    @property
    def ordered_rows(self) -> bytes:
        """What functions over many rows see: some depend on the order."""
        return digest_of("ordered", self.rows, *self.order) if self.order else self.rows

    @property
    def rows(self) -> bytes:
        """One digest of what decides the rows."""
        if len(self.bases) == 1 and not self.filters:
            return self.bases[0]
        return digest_of("rows", digest_of("bases", *self.bases), *sorted(self.filters))

    @property
    def visible(self) -> list[LogicColumn]:
        return [column for column in self.columns if not column.hidden]

    def filtered(self, conditions: frozenset[bytes]) -> "LogicRelation":
        return replace(self, filters=self.filters | conditions)

    def over(self, base: bytes) -> "LogicRelation":
        """The same columns over rows that are decided in another way."""
        return replace(self, bases=(base,), filters=frozenset(), order=())

    def with_columns(self, columns: tuple[LogicColumn, ...]) -> "LogicRelation":
        return replace(self, columns=columns)


EMPTY: Final = LogicRelation((), (digest_of("one row"),))


def find_columns(
    columns: tuple[LogicColumn, ...], parts: tuple[str, ...]
) -> tuple[list[LogicColumn], int]:
    """The columns that answer to a dotted name, and how many of its parts they used up.

    In Spark's order: the longest qualifier that matches, then a column with fields inside it.
    """
    for size in range(min(len(parts) - 1, 3), 0, -1):
        path = parts[:size]
        found = [
            column
            for column in columns
            if column.name == parts[size] and column.qualifier[-size:] == path
        ]
        if found:
            return found, size + 1
    return [each for each in columns if each.name == parts[0] and not each.hidden], 1


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
        return digest_of("chance", str(self.chances[digest]), digest)


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
        own = {
            name: digest_of("parameter", str(self.depth), str(at)) for at, name in enumerate(names)
        }
        return replace(self, lambdas={**self.lambdas, **own}, depth=self.depth + 1)


def scope_over(relation: LogicRelation, outer: LogicScope) -> LogicScope:
    """A scope over a relation, in the query that `outer` stands around."""
    return LogicScope(outer.trail, relation, outer, outer.ctes)


def outermost_scope(trail: Trail) -> LogicScope:
    return LogicScope(trail, EMPTY, None, {})


def digest_name(parts: tuple[str, ...], scope: LogicScope) -> bytes:
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
            return digest_of("outer", str(depth), found)
        outer, depth = outer.parent, depth + 1
    if len(parts) == 1 and parts[0] in BARE_FUNCTIONS:
        return digest_of("call", parts[0])
    if len(parts) == 1 and parts[0] in _UNITS:
        return digest_of("unit", parts[0])
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
        value = digest_of("field", value, name)
    return value
