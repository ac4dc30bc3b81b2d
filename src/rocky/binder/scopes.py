"""Relations and scopes: how a written name finds its column, as Spark does it.

A name of several parts is read in Spark's order: the longest qualifier that matches wins, and
only when none does is the first part a column and the rest fields inside it.
"""

from typing import Any

from sqlglot import exp

from rocky.binder.binding import Binding
from rocky.binder.expression import Column, Expr


class Relation:
    """The columns a FROM clause, CTE or subquery offers, in order."""

    __slots__ = ("_index", "columns", "known")

    def __init__(self, columns: list[Column], known: bool = True) -> None:  # noqa: FBT001, FBT002 - two values, read once
        self.columns = columns
        # False when some columns cannot be known: then a miss is no error.
        self.known = known
        self._index: dict[str, list[Column]] | None = None

    def index(self) -> dict[str, list[Column]]:
        """Columns by lower-case name."""
        found = self._index
        if found is None:
            found = {}
            for column in self.columns:
                at = found.get(column.key)
                if at is None:
                    found[column.key] = [column]
                else:
                    at.append(column)
            self._index = found
        return found

    def visible(self) -> list[Column]:
        return [column for column in self.columns if not column.hidden]

    def find(self, parts: tuple[str, ...]) -> tuple[list[Column], int]:
        """The columns that answer to the parts, and how many parts they used up."""
        index = self.index()
        if len(parts) == 1:
            found = index.get(parts[0])
            if found is None:
                return [], 0
            if len(found) == 1:
                return (found, 1) if not found[0].hidden else ([], 0)
            return _distinct([column for column in found if not column.hidden]), 1
        for size in range(min(len(parts) - 1, 3), 0, -1):
            path = parts[:size]
            named = index.get(parts[size])
            if named is not None:
                matched = [column for column in named if column.qualifier[-size:] == path]
                if matched:
                    return _distinct(matched), size + 1
        found = index.get(parts[0])
        if found:
            return _distinct([column for column in found if not column.hidden]), 1
        return [], 0

    def of_qualifier(self, path: tuple[str, ...]) -> list[Column]:
        """The columns a `path.*` means; hidden ones answer to their own qualifier."""
        size = len(path)
        return [column for column in self.columns if column.qualifier[-size:] == path]


def _distinct(columns: list[Column]) -> list[Column]:
    """One column an attribute: a name that stands twice for the same attribute is not ambiguous."""
    if len(columns) < 2:
        return columns
    seen: dict[int, Column] = {}
    for column in columns:
        seen.setdefault(column.ident, column)
    return list(seen.values())


FROM_CLAUSE = "from"
"""The clause of the empty scope between a query and the items of its FROM."""


class Scope:
    """Where an expression stands: the relation it reads, and what else may be named there."""

    __slots__ = (
        "aliases",
        "binding",
        "clause",
        "ctes",
        "fallback",
        "grouping",
        "inside",
        "lambdas",
        "nulled",
        "parent",
        "relation",
        "windows",
    )

    def __init__(
        self,
        binding: Binding,
        relation: Relation,
        parent: "Scope | None",
        ctes: "dict[str, Any]",
        clause: str = "select",
    ) -> None:
        self.binding = binding
        self.relation = relation
        self.parent = parent
        self.ctes = ctes
        self.clause = clause
        # Where a name is looked up when `relation` has none: the select list for HAVING, the
        # FROM clause for ORDER BY.
        self.fallback: Relation | None = None
        # What arguments of aggregate functions see, where that is more than `relation`.
        self.inside: Scope | None = None
        # Aliases of the select list that later items may use (lateral column aliases).
        self.aliases: dict[str, list[Expr]] | None = None
        self.lambdas: dict[str, Expr] | None = None
        self.windows: dict[str, exp.Window] | None = None
        # The GROUP BY of the query, for `grouping()`.
        self.grouping: Any = None
        # Grouping columns that a grouping set may leave out: null outside aggregates.
        self.nulled: dict[int, Column] | None = None

    def within(self, clause: str) -> "Scope":
        """The same place seen from another clause."""
        twin = Scope(self.binding, self.relation, self.parent, self.ctes, clause)
        twin.aliases = self.aliases
        twin.fallback = self.fallback
        twin.inside = self.inside
        twin.lambdas = self.lambdas
        twin.windows = self.windows
        twin.nulled = self.nulled
        twin.grouping = self.grouping
        return twin


EMPTY_RELATION = Relation([])
