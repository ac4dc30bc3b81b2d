"""Binding: what one query's binding collects while the clauses are walked.

It is the one mutable thing here: findings, the tables read, where columns come from, and why the
result may differ between two runs. Every rule gets it through its scope.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token

from rocky.binder.expression import DIRECT, Column, Expr, Sources, unknown
from rocky.catalog.tables import Table, Tables
from rocky.diagnostics import Code, Diagnostic, Label, Severity
from rocky.source import Span
from rocky.syntax.spans import span_of

INFLUENCE_FILTER = "filter"
INFLUENCE_JOIN = "join"
INFLUENCE_GROUP = "group"
INFLUENCE_ORDER = "order"


class Binding:
    """The state of binding one query text."""

    __slots__ = (
        "_ident",
        "_origin_ids",
        "alias_names",
        "alias_places",
        "chances",
        "diagnostics",
        "influences",
        "missing",
        "origins",
        "reads",
        "stars",
        "tables",
        "text",
        "tokens",
        "unknowns",
        "volatile",
    )

    def __init__(self, text: str, tokens: Sequence[Token], tables: Tables) -> None:
        self.text = text
        self.tokens = tokens
        self.tables = tables
        self.diagnostics: list[Diagnostic] = []
        self.reads: dict[str, Table] = {}
        # Origin ids index this list; an origin is (table name, column name).
        self.origins: list[tuple[str, str]] = []
        self._origin_ids: dict[tuple[str, str], int] = {}
        self.influences: set[tuple[int, str]] = set()
        # Names of table aliases and CTEs, and where they stand: renaming them changes nothing.
        self.alias_names: dict[str, None] = {}
        self.alias_places: list[int] = []
        self.stars: list[exp.Expr] = []
        # Qualifiers that were reported as unknown, by the relation they were looked up in.
        self.missing: set[tuple[int, str]] = set()
        # How many calls gave up determinism so far.
        self.chances = 0
        self.volatile: set[str] = set()
        self.unknowns: dict[str, int] = {}
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
            self.influences.add((source >> 3, role))

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
def silently(binding: Binding) -> Iterator[None]:
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
                table, column = binding.origins[source >> 3]
                message = f"`{column}` of `{table}` is `{operand.type}`"
                labels.append(Label(None, message, column=(table, column)))
    return tuple(dict.fromkeys(labels))


def label_at(binding: Binding, node: exp.Expr, message: str) -> Label:
    """A label on another node of the same query."""
    return Label(binding.span(node), message)
