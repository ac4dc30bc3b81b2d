"""Scopes: what a rule is given, from the names in reach to the findings of the query so far.

A name of several parts is read in Spark's order: the longest qualifier that matches wins, and only
when none does is the first part a column and the rest fields inside it. `Binding` is the one
mutable thing here: findings, tables read, why two runs may differ. Rules bind their children
through `bind_expression` and `bind_query`, so that families need not know each other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import Token

from rocky.diagnostics import Code, Diagnostic, Label, Severity
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.expr import (
    DIRECT,
    MAX_COLUMNS,
    WHOLE,
    Column,
    Expr,
    Sources,
    TooManyColumns,
    unknown,
)
from rocky.language.binder.groups import Groups
from rocky.language.binder.shares import Shares
from rocky.language.syntax.parser import span_of
from rocky.language.tables import Table, Tables

INFLUENCE_FILTER = "filter"
INFLUENCE_JOIN = "join"
INFLUENCE_GROUP = "group"
INFLUENCE_ORDER = "order"
NO_BANS: Final[Mapping[int, int]] = {}


class Binding:
    """The state of binding one query text."""

    __slots__ = (
        "_ident",
        "_origin_ids",
        "alias_names",
        "alias_places",
        "bans",
        "calls",
        "chances",
        "diagnostics",
        "functions",
        "groups",
        "has_windows",
        "influences",
        "missing",
        "names",
        "notes",
        "origins",
        "outer_uses",
        "plain",
        "reads",
        "shares",
        "stars",
        "tables",
        "text",
        "tokens",
        "unknowns",
        "volatile",
    )

    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        tables: Tables,
        bans: Mapping[int, int] = NO_BANS,
        names: Any = None,
    ) -> None:
        self.text = text
        # What each name means, where somebody asks: a `NameNotes`.
        self.names = names
        # Names by their offsets, and what each must not mean; most texts have none.
        self.bans = bans
        # Whether a column may be taken as soon as one of its name is found.
        self.plain = not bans and names is None
        # Whether a time window may be in it at all; most texts have none.
        self.has_windows = "window" in text.lower()
        self.tokens = tokens
        self.tables = tables
        self.diagnostics: list[Diagnostic] = []
        self.reads: dict[str, Table] = {}
        # Origin ids index this list; an origin is (table name, column name).
        self.origins: list[tuple[str, str]] = []
        self._origin_ids: dict[tuple[str, str], int] = {}
        self.shares = Shares()
        self.groups = Groups()
        self.influences: set[tuple[int, str]] = set()
        # Names of table aliases and CTEs, and where they stand: renaming them changes nothing.
        self.alias_names: dict[str, None] = {}
        self.alias_places: list[int] = []
        self.stars: list[exp.Expr] = []
        # Qualifiers that were reported as unknown, by the relation they were looked up in.
        self.missing: set[tuple[int, str]] = set()
        # The relations of enclosing queries that columns were taken from, in order.
        self.outer_uses: list[Relation] = []
        # How many calls gave up determinism so far.
        self.chances = 0
        self.volatile: set[str] = set()
        # Declared functions that are called, with their digests.
        self.functions: dict[str, bytes] = {}
        self.unknowns: dict[str, int] = {}
        # Functions by name and number of arguments, and forms that another engine reads otherwise,
        # each with its node; one that is bound twice stands here twice.
        self.calls: list[tuple[str, int, exp.Expr]] = []
        self.notes: list[tuple[str, exp.Expr]] = []
        self._ident = 0

    def fresh(self) -> int:
        """A new identity for a column or relation."""
        self._ident += 1
        return self._ident

    def origin(self, table: str, column: str) -> int:
        key = (table, column)
        found = self._origin_ids.get(key)
        if found is None:
            found = self._origin_ids[key] = len(self.origins)
            self.origins.append(key)
        return found

    def define_alias(self, identifier: Any) -> str:
        """Note a table alias or CTE name; gives it back in lower case."""
        name: str = identifier.args["this"].lower()
        self.alias_names[name] = None
        self.name_alias(identifier)
        return name

    def name_alias(self, identifier: Any) -> None:
        """Note a place where an alias may be named."""
        meta = identifier._meta
        if meta and "start" in meta:
            self.alias_places.append(meta["start"])

    def influence(self, sources: Sources, role: str) -> None:
        """Note columns that decide which rows exist, or their order, without being values."""
        for source in sources:
            self.influences.add(((source & WHOLE) >> 3, role))

    def mark_volatile(self, reason: str) -> None:
        """Note a reason why two runs over the same inputs may differ."""
        self.volatile.add(reason)

    def give_up(self, reason: str) -> Expr:
        """An honest unknown, with its reason counted."""
        self.unknowns[reason] = self.unknowns.get(reason, 0) + 1
        return unknown()

    def span(self, node: exp.Expr | None) -> Span | None:
        return span_of(node, self.tokens) if node is not None else None

    def error(
        self,
        code: Code,
        message: str,
        node: exp.Expr | None,
        condition: str | None = None,
        *,
        help: str | None = None,  # noqa: A002 - the word of the page
        labels: tuple[Label, ...] = (),
        span: Span | None = None,
    ) -> Expr:
        """Report an error at a node and stand in an unknown, so that it is reported once."""
        self.diagnostics.append(
            Diagnostic(
                code,
                message,
                span or self.span(node) or Span(0, len(self.text)),
                condition=condition,
                labels=labels,
                help=help,
            )
        )
        return unknown()

    def warn(self, code: Code, message: str, node: exp.Expr, **details: Any) -> None:
        self.diagnostics.append(
            Diagnostic(code, message, self.span(node), severity=Severity.WARNING, **details)
        )


@contextmanager
def suppress_findings(binding: Binding) -> Iterator[None]:
    """Bind for a look only: what is found wrong meanwhile is left to whoever binds in earnest."""
    reported, missing, unknowns = (
        len(binding.diagnostics),
        set(binding.missing),
        dict(binding.unknowns),
    )
    try:
        yield
    finally:
        del binding.diagnostics[reported:]
        binding.missing, binding.unknowns = missing, unknowns


def origin_labels(binding: Binding, operands: Iterable[Expr]) -> tuple[Label, ...]:
    """Labels on the upstream columns that operands are, each to be placed by the compiler."""
    labels = []
    for operand in operands:
        if len(operand.sources) == 1 and isinstance(operand, Column):
            (source,) = operand.sources
            if source & 7 == DIRECT:
                table, column = binding.origins[(source & WHOLE) >> 3]
                message = f"`{column}` of `{table}` is `{operand.type}`"
                labels.append(Label(None, message, column=(table, column)))
    return tuple(dict.fromkeys(labels))


def label_at(binding: Binding, node: exp.Expr, message: str) -> Label:
    """A label on another node of the same query."""
    return Label(binding.span(node), message)


class Relation:
    """The columns a FROM clause, CTE or subquery offers, in order."""

    __slots__ = ("_index", "columns", "known")

    def __init__(self, columns: list[Column], known: bool = True) -> None:  # noqa: FBT001, FBT002 - two values, read once
        if len(columns) > MAX_COLUMNS:
            raise TooManyColumns
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
        "keyed",
        "lambdas",
        "nulled",
        "parent",
        "relation",
        "time_window",
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
        # After a GROUP BY: what an expression means that is one of its keys.
        self.keyed: Callable[[Any], Expr | None] | None = None
        # The time window of the query: its shape, and the column Spark computes it into.
        self.time_window: tuple[Any, int] | None = None

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
        twin.keyed = self.keyed
        twin.time_window = self.time_window
        return twin


EMPTY_RELATION = Relation([])


ExpressionRule = Callable[[Any, Scope], Expr]
QueryRule = Callable[[Any, Scope], Relation]

EXPRESSIONS: dict[type, ExpressionRule] = {}
QUERIES: dict[type, QueryRule] = {}


def bind_expression(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression a node stands for; an unknown where there is no rule."""
    if scope.keyed is not None:
        key = scope.keyed(node)
        if key is not None:
            return key
    rule = EXPRESSIONS.get(node.__class__)
    if rule is None:
        return scope.binding.give_up(f"syntax {node.__class__.__name__.lower()}")
    return rule(node, scope)


def bind_query(node: exp.Expr, scope: Scope) -> Relation:
    """The relation a query yields. `scope` is where it stands: its outer columns and CTEs."""
    rule = QUERIES.get(node.__class__)
    if rule is None:
        scope.binding.give_up(f"syntax {node.__class__.__name__.lower()}")
        return Relation([], known=False)
    return rule(node, scope)
