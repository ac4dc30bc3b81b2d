"""Row-wise queries: what they make of a row of one table does not depend on other rows of it.

The table is the driving one. Rows of others may be looked up by an equality, as a fact's names are
in its dimensions; whatever Spark plans, it can leave the rows of the driving table where they are
read if it is told to send the others there. Whether a function makes one value of one row is not
known from the text, so its name is handed on.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics.diagnostic import Span
from rocky.language.syntax.parser import SyntaxProblem, parse_query, with_deep_stack

_CLAUSES: Final = frozenset({"expressions", "from_", "joins", "where", "with_", "pipe"})
_OF_A_TABLE: Final = frozenset({"this", "db", "catalog", "alias"})
_OF_A_SUBQUERY: Final = frozenset({"this", "alias", "pipe"})
_OF_A_LOOKUP: Final = frozenset({"this", "side", "kind", "on", "using"})
_LOOKUPS: Final = frozenset(
    {"", "INNER", "LEFT", "LEFT OUTER", "SEMI", "LEFT SEMI", "ANTI", "LEFT ANTI"}
)
_PIPED: Final = frozenset({"as", "drop", "extend", "select", "set", "where"})
_OVER_ROWS: Final = (exp.AggFunc, exp.Any, exp.Window, exp.WithinGroup, exp.Filter, exp.UDTF)

TableName = tuple[str, ...]
"""The parts of a table's name, in lower case."""


@dataclass(frozen=True, slots=True)
class RowWiseQuery:
    """What a row-wise query reads, and the functions that it calls, in lower case.

    `named_lookups` are the places at which rows are looked up in what a `WITH` names. Spark forgets
    there what it was told of the table below the name, and has to be told of the name.
    """

    driving: TableName
    looked_up: frozenset[TableName] = frozenset()
    calls: frozenset[str] = frozenset()
    named_lookups: frozenset[Span] = frozenset()


def row_wise_query(sql: str) -> RowWiseQuery | None:
    """What a row-wise query is made of; None for any other query."""
    try:
        return _find(sql)
    except RecursionError:
        return with_deep_stack(lambda: _find(sql))


def _find(sql: str) -> RowWiseQuery | None:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem):
        return None
    relations = _Relations()
    found = relations.take(parsed.tree)
    if found is None or found.driving in found.looked_up:
        return None
    names = set()
    for node in parsed.tree.walk():
        if isinstance(node, exp.Query | exp.Table):
            # A query inside an expression reads rows of its own.
            if id(node) not in relations.seen:
                return None
        elif isinstance(node, _OVER_ROWS):
            return None
        elif isinstance(node, exp.Anonymous):
            names.add(str(node.this).lower())
    return replace(found, calls=frozenset(names), named_lookups=frozenset(relations.named_lookups))


class _Relations:
    """The relations that a query is made of, as far as they are row-wise."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.named_lookups: list[Span] = []
        self._named: dict[str, RowWiseQuery] = {}
        self._uses_of_names: list[exp.Identifier] = []

    def take(self, node: Any) -> RowWiseQuery | None:
        """What a relation reads; None unless it, and all below it, are row-wise."""
        self.seen.add(id(node))
        if isinstance(node, exp.Table):
            return self._take_table(node)
        if isinstance(node, exp.Subquery):
            return self.take(node.this) if _has_only(node, _OF_A_SUBQUERY) else None
        if not isinstance(node, exp.Select) or not _has_only(node, _CLAUSES):
            return None
        # Names that a query gives mean nothing outside of it.
        outside = dict(self._named)
        found = self._take_select(node)
        self._named = outside
        return found

    def _take_select(self, node: exp.Select) -> RowWiseQuery | None:
        start, given = node.args.get("from_"), node.args.get("with_")
        if start is None or not (given is None or self._take_names(given)):
            return None
        found = self.take(start.this)
        for each in node.args.get("joins") or ():
            found = None if found is None else self._take_lookup(found, each)
        return found

    def _take_names(self, given: exp.With) -> bool:
        if given.args.get("recursive"):
            return False
        for each in given.expressions:
            found = self.take(each.this)
            if found is None:
                return False
            self._named[each.alias.lower()] = found
        return True

    def _take_table(self, node: exp.Table) -> RowWiseQuery | None:
        if not _has_only(node, _OF_A_TABLE) or not isinstance(node.this, exp.Identifier):
            return None
        parts = tuple(part.name.lower() for part in node.parts)
        named = self._named.get(parts[0]) if len(parts) == 1 else None
        if named is not None:
            self._uses_of_names.append(node.this)
        return named or RowWiseQuery(parts)

    def _take_lookup(self, found: RowWiseQuery, join: exp.Join) -> RowWiseQuery | None:
        """A query with rows of one more table looked up; None for any other join."""
        if not is_lookup(join):
            return None
        before = len(self._uses_of_names)
        other = self.take(join.this)
        # A hint to send a table reaches the next join alone.
        if other is None or other.looked_up:
            return None
        used = self._uses_of_names[before:]
        # It does not leave a named query, nor one that names queries itself.
        if used and join.this.find(exp.With) is not None:
            return None
        self.named_lookups += [Span(each.meta["start"], each.meta["end"] + 1) for each in used]
        return replace(found, looked_up=found.looked_up | {other.driving})


def is_lookup(join: exp.Join) -> bool:
    """Whether a join only finds rows of one more table, by a value of those there are."""
    words = f"{join.args.get('side') or ''} {join.args.get('kind') or ''}".strip().upper()
    return words in _LOOKUPS and _has_only(join, _OF_A_LOOKUP) and _compares(join)


def _compares(join: exp.Join) -> bool:
    """Whether rows are found by a value, not by looking at all pairs of rows."""
    on = join.args.get("on")
    if on is None:
        return bool(join.args.get("using"))
    on, other = on.unnest(), join.this.alias_or_name.lower()
    every = on.flatten() if isinstance(on, exp.And) else (on,)
    return any(
        isinstance(each, exp.EQ | exp.NullSafeEQ)
        and (_tie(each.left, each.right, other) or _tie(each.right, each.left, other))
        for each in every
    )


def _tie(one: exp.Expr, rest: exp.Expr, table: str) -> bool:
    """Whether values of a table are compared with such of others alone."""
    found = _tables_of(rest)
    # A column without its table may be one of either.
    return _tables_of(one) == {table} and bool(found) and not found & {table, ""}


def _tables_of(expression: exp.Expr) -> set[str]:
    return {column.table.lower() for column in expression.find_all(exp.Column)}


def _has_only(node: exp.Expr, keys: frozenset[str]) -> bool:
    piped = node.args.get("pipe")
    return {key for key, value in node.args.items() if value} <= keys and (
        piped is None or piped in _PIPED
    )
