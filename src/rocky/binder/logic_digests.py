"""Digests of logic: values that are equal when two texts compute the same in the same way.

A column is known by the digest of what it is computed from, down to columns of tables; a relation
by digests of its columns and of what decides its rows. Names of CTEs and aliases are in neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from blake3 import blake3


class Undigestible(Exception):
    """A construct of which no digest can be had; the message is a clause that names it."""


def only(node: Any, understood: frozenset[str]) -> None:
    """Raise Undigestible for a node with an argument that whoever looks at it does not heed."""
    for name, value in node.args.items():
        if value and name not in understood:
            raise Undigestible(f"`{name}` in a {node.__class__.__name__}")


def mark(kind: str, *parts: bytes | str) -> bytes:
    """The digest of a node: what it is and what it is made of, in order."""
    hasher = blake3(kind.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(4, "big"))
        hasher.update(data)
    return hasher.digest(16)


def equality(one: bytes, other: bytes) -> bytes:
    """The digest of `one = other`, which is that of `other = one`."""
    return mark("EQ", *sorted((one, other)))


def again(digest: bytes, leaves: frozenset[str]) -> tuple[bytes, frozenset[str]]:
    """A generator over rows below which the same one may stand: another value, and another leaf."""
    name, times = digest.hex(), 0
    while f"{name} {times}" in leaves:
        times += 1
    return (mark("again", str(times), digest) if times else digest), leaves | {f"{name} {times}"}


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
        """What functions over many rows see: some heed the order."""
        return mark("ordered", self.rows, *self.order) if self.order else self.rows

    @property
    def rows(self) -> bytes:
        """One digest of what decides the rows."""
        if len(self.bases) == 1 and not self.filters:
            return self.bases[0]
        return mark("rows", mark("bases", *self.bases), *sorted(self.filters))

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


EMPTY: Final = LogicRelation((), (mark("one row"),))


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
