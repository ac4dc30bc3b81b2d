"""Select items that read the query around their own, or that correlate a subquery of theirs."""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.group_by import Grouping
from rocky.language.binder.clauses.select_list import SelectItem
from rocky.language.binder.expr import HAS_CORRELATED, HAS_OUTER, HAS_SUBQUERY
from rocky.language.binder.scopes import Scope
from rocky.language.binder.shapes import shape_of


def check_outer(items: list[SelectItem], grouping: Grouping | None, scope: Scope) -> None:
    """An aggregate cannot mix columns of the outer query into its keys or results."""
    candidates = [*grouping.keys] if grouping is not None else []
    candidates += [(item.node, item.expr) for item in items]
    for node, expr in candidates:
        if expr.flags & HAS_OUTER and not expr.flags & HAS_SUBQUERY:
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "an aggregate in a subquery cannot use a column of the outer query here",
                node,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE",
                help="use the outer column in WHERE or HAVING, or outside the subquery",
            )
            return


def check_correlated(items: list[SelectItem], grouping: Grouping | None, scope: Scope) -> None:
    """A correlated value stands beside aggregates only as a key, and as a key only if selected."""
    keys = grouping.keys if grouping is not None else []
    selected = {shape_of(item.node, scope) for item in items if item.expr.flags & HAS_CORRELATED}
    for item in items:
        if item.expr.flags & HAS_CORRELATED and not _holds_key(item.node, grouping, scope):
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "a correlated subquery beside an aggregate must be a grouping key or stand inside"
                " an aggregate function",
                item.node,
                "SCALAR_SUBQUERY_IS_IN_GROUP_BY_OR_AGGREGATE_FUNCTION",
                help="add it to GROUP BY, or wrap it in `first`",
            )
    for node, key in keys:
        if key.flags & HAS_CORRELATED and shape_of(node, scope) not in selected:
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "a correlated subquery that is a grouping key must be selected as well",
                node,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY."
                "MUST_AGGREGATE_CORRELATED_SCALAR_SUBQUERY",
            )


def _holds_key(node: Any, grouping: Grouping | None, scope: Scope) -> bool:
    if grouping is None:
        return False
    subqueries = [node] if node.__class__ is exp.Subquery else list(node.find_all(exp.Subquery))
    return all(shape_of(each, scope) in grouping.shapes for each in subqueries)


def check_windows(items: list[SelectItem], scope: Scope) -> None:
    """A window function takes no column of the outer query."""
    for item in items:
        if item.node.__class__ is exp.Window and item.expr.flags & HAS_OUTER:
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "a window function cannot use a column of the query around this one",
                item.node,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE",
            )
