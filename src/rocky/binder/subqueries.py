"""Subqueries in expressions: scalar, EXISTS and IN, and what correlation allows."""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.binding import INFLUENCE_FILTER
from rocky.binder.dispatch import bind_expression, bind_query
from rocky.binder.expression import (
    EXPRESSION,
    HAS_OUTER,
    HAS_SUBQUERY,
    Column,
    Expr,
    derived,
    merge_sources,
    unknown,
)
from rocky.binder.operators import bind_in_list, warn_unsafe_key
from rocky.binder.scopes import Relation, Scope
from rocky.datatypes import types as t
from rocky.datatypes.comparison import in_subquery
from rocky.datatypes.mismatch import OperandMismatch
from rocky.diagnostics import Code


def _inner(node: Any, scope: Scope) -> Relation:
    return bind_query(node, scope)


def bind_scalar(node: exp.Subquery, scope: Scope) -> Expr:
    """`(SELECT ...)` as a value: one column, null when there is no row."""
    relation = _inner(node, scope)
    columns = relation.visible()
    if not relation.known:
        return unknown(columns)
    if len(columns) != 1:
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            f"a subquery used as a value must give one column, and this gives {len(columns)}",
            node,
            "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
        )
    found = derived(columns[0].type, True, columns, EXPRESSION)
    found.flags = (found.flags & HAS_OUTER) | HAS_SUBQUERY
    found.name = columns[0].name
    found.foldable = False
    return found


def bind_exists(node: exp.Exists, scope: Scope) -> Expr:
    relation = _inner(node.args["this"], scope)
    sources = merge_sources(relation.columns, EXPRESSION)
    return Expr(t.BOOLEAN, False, sources, HAS_SUBQUERY)


def bind_in(node: exp.In, scope: Scope) -> Expr:
    """`value IN (list)` or `value IN (SELECT ...)`; a tuple meets as many columns."""
    query = node.args.get("query")
    if query is None:
        return bind_in_list(node, scope)
    value_node = node.args["this"]
    while value_node.__class__ is exp.Paren:
        value_node = value_node.args["this"]
    nodes = value_node.args["expressions"] if value_node.__class__ is exp.Tuple else [value_node]
    values = [bind_expression(each, scope) for each in nodes]
    relation = _inner(query, scope)
    columns = relation.visible()
    if not relation.known:
        return derived(t.BOOLEAN, True, [*values, *columns])
    if len(values) != len(columns):
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            f"{len(values)} value{'s' if len(values) > 1 else ''} cannot be IN a subquery "
            f"of {len(columns)} columns",
            node,
            "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH",
        )
    nullable = False
    for value, column in zip(values, columns, strict=True):
        outcome = in_subquery(value, column)
        if isinstance(outcome, OperandMismatch):
            return scope.binding.error(
                Code.INCOMPARABLE_TYPES,
                outcome.message,
                node,
                "DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH",
            )
        nullable = nullable or outcome.nullable
        if outcome.unsafe and isinstance(value, Column):
            warn_unsafe_key(value, column, node, scope)
    scope.binding.influence(merge_sources(columns, EXPRESSION), INFLUENCE_FILTER)
    found = derived(t.BOOLEAN, nullable, [*values, *columns])
    found.flags |= HAS_SUBQUERY
    found.foldable = False
    return found


SUBQUERIES: Final[dict[type, Any]] = {
    exp.Subquery: bind_scalar,
    exp.Exists: bind_exists,
    exp.In: bind_in,
}
