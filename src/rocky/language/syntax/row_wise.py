"""Row-wise queries: they read one table once, and each row of it gives one row or none, by itself.

Such a query hands no row to another task, whatever Spark plans for it. Whether a function makes one
value of one row is not known from the text, so its name is handed on.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.language.syntax.parser import SyntaxProblem, parse_query, with_deep_stack

_CLAUSES: Final = frozenset({"expressions", "from_", "where", "with_", "pipe"})
_OF_A_TABLE: Final = frozenset({"this", "db", "catalog", "alias"})
_OF_A_SUBQUERY: Final = frozenset({"this", "alias", "pipe"})
_PIPED: Final = frozenset({"as", "drop", "extend", "select", "set", "where"})
_OVER_ROWS: Final = (exp.AggFunc, exp.Any, exp.Window, exp.WithinGroup, exp.Filter, exp.UDTF)


def row_wise_calls(sql: str) -> frozenset[str] | None:
    """The functions that a row-wise query calls, in lower case; None for any other query."""
    try:
        return _calls(sql)
    except RecursionError:
        return with_deep_stack(lambda: _calls(sql))


def _calls(sql: str) -> frozenset[str] | None:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem):
        return None
    relations = _Relations()
    if not relations.take(parsed.tree) or relations.tables != 1:
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
    return frozenset(names)


class _Relations:
    """The relations that a query is made of, as far as they are row-wise."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.tables = 0
        self._named: set[str] = set()

    def take(self, node: Any) -> bool:
        """Whether a relation, and all below it, are row-wise."""
        self.seen.add(id(node))
        if isinstance(node, exp.Table):
            return self._take_table(node)
        if isinstance(node, exp.Subquery):
            return _has_only(node, _OF_A_SUBQUERY) and self.take(node.this)
        if not isinstance(node, exp.Select) or not _has_only(node, _CLAUSES):
            return False
        start, given = node.args.get("from_"), node.args.get("with_")
        if start is None or not (given is None or self._take_names(given)):
            return False
        return self.take(start.this)

    def _take_names(self, given: exp.With) -> bool:
        if given.args.get("recursive"):
            return False
        for each in given.expressions:
            if not self.take(each.this):
                return False
            self._named.add(each.alias.lower())
        return True

    def _take_table(self, node: exp.Table) -> bool:
        if not _has_only(node, _OF_A_TABLE) or not isinstance(node.this, exp.Identifier):
            return False
        if node.db or node.name.lower() not in self._named:
            self.tables += 1
        return True


def _has_only(node: exp.Expr, keys: frozenset[str]) -> bool:
    piped = node.args.get("pipe")
    return {key for key, value in node.args.items() if value} <= keys and (
        piped is None or piped in _PIPED
    )
