"""Aggregates and names that belong to the query around a subquery, and where they may stand."""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import HAS_OUTER, Expr, merge_flags
from rocky.language.binder.expressions.calls import kind_of_call
from rocky.language.binder.scopes import FROM_CLAUSE, Scope


def is_aggregated(node: Any) -> bool:
    """Whether a name stands in an argument of an aggregate function of its own query."""
    while node is not None and not isinstance(node, exp.Query):
        if node.__class__ is exp.Anonymous and kind_of_call(node) == "aggregate":
            return True
        node = node.parent
    return False


def not_grouped(parts: tuple[str, ...], node: exp.Expr, scope: Scope) -> Expr:
    """The report for a column of the outer query that its HAVING has no value of."""
    return scope.binding.error(
        Code.INVALID_AGGREGATION,
        f"`{'.'.join(parts)}` of the query around this one is neither grouped nor aggregated",
        node,
        "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT",
        help="group by it, or aggregate it",
    )


def belongs_to_having(args: list[Expr], scope: Scope) -> bool:
    """Whether an aggregate of outer columns alone, in WHERE, is one of the HAVING around it."""
    outer = scope.parent
    while outer is not None and outer.clause == FROM_CLAUSE:
        outer = outer.parent
    return (
        scope.clause == "where"
        and outer is not None
        and outer.clause == "having"
        and all(arg.flags & HAS_OUTER or not arg.sources for arg in args)
    )


def misplaced_outer_aggregate(
    key: str, args: list[Expr], node: exp.Expr, scope: Scope
) -> Expr | None:
    """The report for an aggregate over columns of the query around this one, or None."""
    if not merge_flags(args) & HAS_OUTER:
        return None
    columns = [
        tuple(part.name.lower() for part in each.parts)
        for each in node.find_all(exp.Column)
        if each.args["this"].__class__ is not exp.Star
    ]
    if any(scope.relation.find(parts)[0] for parts in columns):
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            f"`{key}` mixes columns of this query with columns of the query around it",
            node,
            "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY."
            "AGGREGATE_FUNCTION_MIXED_OUTER_LOCAL_REFERENCES",
            help="aggregate first, and use the outer column on the result",
        )
    if _stands_in_having(node):
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            f"`{key}` of a column of the query around this one cannot stand in its HAVING",
            node,
            "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE",
        )
    return None


def _stands_in_having(node: Any) -> bool:
    while node is not None and not isinstance(node, exp.Query):
        if node.__class__ is exp.Having:
            return True
        node = node.parent
    return False
