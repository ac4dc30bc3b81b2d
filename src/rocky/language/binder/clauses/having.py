"""HAVING: it sees the grouping columns, then the select list; aggregates in it see everything.

What it needs and the select list does not have is computed beside the list. The rows behind are
then out of sight: an ORDER BY after it can name columns, and no aggregate any more.
"""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.group_by import holds_aggregate
from rocky.language.binder.clauses.select_list import SelectItem
from rocky.language.binder.clauses.time_windows import check_having
from rocky.language.binder.expr import HAS_WINDOW, Expr
from rocky.language.binder.expressions.calls import kind_of_call
from rocky.language.binder.scopes import Relation, Scope
from rocky.language.binder.shapes import shape_of

_SUFFIXED = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
_QUERIES = (exp.Subquery, exp.Exists, exp.Select)


def having_scope(node: Any, items: list[SelectItem], output: Relation, scope: Scope) -> Scope:
    """What a HAVING condition sees; window functions of the list are computed after it."""
    columns = [item.column for item in items if not item.expr.flags & HAS_WINDOW]
    inner = scope.within("having")
    inner.fallback = output if len(columns) == len(items) else Relation(columns, output.known)
    inner.aliases = None
    check_having(node, scope)
    return inner


def check_condition(node: Any, condition: Expr, scope: Scope) -> None:
    """Report a window function in a HAVING condition."""
    if condition.flags & HAS_WINDOW:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a window function cannot stand in HAVING",
            node,
            "_LEGACY_ERROR_TEMP_1034",
        )


def needs_more(node: Any, items: list[SelectItem], visible: Relation, scope: Scope) -> bool:
    """Whether a HAVING condition needs a value that no item of the select list is."""
    listed = {shape_of(item.node, scope) for item in items}
    listed |= {("column", item.expr.ident) for item in items if hasattr(item.expr, "ident")}
    return _needs(node, listed, visible, scope)


def _needs(node: Any, listed: set[Any], visible: Relation, scope: Scope) -> bool:
    kind = node.__class__
    if kind in _QUERIES or shape_of(node, scope) in listed:
        return False
    if kind is exp.Column:
        columns, _ = visible.find(tuple(part.name.lower() for part in node.parts))
        return len(columns) == 1
    aggregate = kind is exp.Any or (kind is exp.Anonymous and kind_of_call(node) == "aggregate")
    if aggregate or (kind in _SUFFIXED and holds_aggregate(node)):
        return True
    return any(_needs(child, listed, visible, scope) for child in node.iter_expressions())
