"""What may follow an aggregate call: FILTER, WITHIN GROUP, IGNORE NULLS."""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.calls import argument_nodes, bind_arguments, call_kind, function_name
from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import (
    AGGREGATE,
    HAS_AGGREGATE,
    HAS_WINDOW,
    VOLATILE,
    Expr,
    merge_sources,
)
from rocky.binder.functions import bind_function, type_function
from rocky.binder.scopes import Scope
from rocky.catalog.functions import find_function
from rocky.datatypes import types as t
from rocky.diagnostics import Code

_ORDERED_FIRST: Final = frozenset({"percentile_cont", "percentile_disc", "mode"})
_ORDERED_LISTS: Final = frozenset({"listagg", "string_agg"})
_NULLS_CLAUSE: Final = frozenset(
    "first first_value last last_value any_value nth_value lag lead".split()
)
_UNSUPPORTED_SYNTAX: Final = "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"


def bind_filter(node: exp.Filter, scope: Scope) -> Expr:
    """`aggregate(...) FILTER (WHERE condition)`."""
    return bind_filtered(node, scope, windowed=False)


def bind_filtered(node: exp.Filter, scope: Scope, *, windowed: bool) -> Expr:
    inner = node.args["this"]
    value = bind_over_target(inner, scope, windowed=windowed)
    condition = bind_expression(node.args["expression"].args["this"], scope)
    name = str(getattr(inner, "name", "") or "").lower()
    if windowed:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            "Spark has no FILTER in window functions",
            node,
            "_LEGACY_ERROR_TEMP_1030",
            help=f"use `{name}(CASE WHEN condition THEN value END) OVER (...)`",
        )
    if call_kind(name) not in ("aggregate", ""):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{name}` is no aggregate function, so it takes no FILTER",
            node,
            _UNSUPPORTED_SYNTAX,
        )
    problem = _filter_problem(condition)
    if problem is not None:
        condition_name, message = problem
        return scope.binding.error(Code.INVALID_AGGREGATION, message, node, condition_name)
    return Expr(
        value.type,
        value.nullable,
        merge_sources((value, condition), AGGREGATE),
        value.flags | condition.flags,
    )


def _filter_problem(condition: Expr) -> tuple[str, str] | None:
    if condition.flags & VOLATILE:
        return "INVALID_AGGREGATE_FILTER.NON_DETERMINISTIC", "the FILTER is not deterministic"
    if condition.type not in (t.BOOLEAN, t.UNKNOWN):
        return (
            "INVALID_AGGREGATE_FILTER.NOT_BOOLEAN",
            f"the FILTER is `{condition.type}`, not a boolean",
        )
    if condition.flags & HAS_AGGREGATE:
        return "INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE", "the FILTER holds an aggregate"
    if condition.flags & HAS_WINDOW:
        return (
            "INVALID_AGGREGATE_FILTER.CONTAINS_WINDOW_FUNCTION",
            "the FILTER holds a window function",
        )
    return None


def bind_within_group(node: exp.WithinGroup, scope: Scope) -> Expr:
    """`percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`: the ordering is an argument."""
    return bind_ordered_set(node, scope, windowed=False)


def bind_ordered_set(node: exp.WithinGroup, scope: Scope, *, windowed: bool) -> Expr:
    call = node.args["this"]
    if call.__class__ is not exp.Anonymous:
        return scope.binding.give_up("WITHIN GROUP of this function")
    key = function_name(call).lower()
    if key not in _ORDERED_FIRST and key not in _ORDERED_LISTS:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{key}` takes no WITHIN GROUP",
            node,
            _UNSUPPORTED_SYNTAX,
        )
    nodes = argument_nodes(call, scope)
    args = bind_arguments(key, nodes, scope)
    ordering = [
        bind_expression(each.args["this"], scope)
        for each in node.args["expression"].args["expressions"]
    ]
    info = find_function(key)
    if key in _ORDERED_FIRST:
        return type_function(key, info, [*ordering, *args], node, scope, windowed=windowed)
    found = type_function(key, info, args, node, scope, windowed=windowed)
    found.sources = merge_sources((found, *ordering), AGGREGATE)
    return found


def bind_over_target(node: exp.Expr, scope: Scope, *, windowed: bool) -> Expr:
    """The call under FILTER, IGNORE NULLS or OVER."""
    kind = node.__class__
    if kind is exp.Anonymous:
        return bind_function(function_name(node), node, scope, windowed=windowed)
    if kind is exp.IgnoreNulls or kind is exp.RespectNulls:
        inner = node.args["this"]
        if inner.__class__ is exp.Anonymous and function_name(inner).lower() not in _NULLS_CLAUSE:
            return scope.binding.error(
                Code.INVALID_AGGREGATION,
                f"`{function_name(inner)}` takes no IGNORE NULLS or RESPECT NULLS",
                node,
                _UNSUPPORTED_SYNTAX,
            )
        return bind_over_target(node.args["this"], scope, windowed=windowed)
    if kind is exp.Filter:
        return bind_filtered(node, scope, windowed=windowed)  # type: ignore[arg-type]
    if kind is exp.WithinGroup:
        return bind_ordered_set(node, scope, windowed=windowed)  # type: ignore[arg-type]
    if kind is exp.Any:
        args = bind_arguments("any", argument_nodes(node, scope), scope)
        return type_function("any", find_function("any"), args, node, scope, windowed=windowed)
    return bind_expression(node, scope)


def bind_nulls_clause(node: exp.Expr, scope: Scope) -> Expr:
    return bind_over_target(node, scope, windowed=False)


MODIFIERS: Final[dict[type, Any]] = {
    exp.Filter: bind_filter,
    exp.WithinGroup: bind_within_group,
    exp.IgnoreNulls: bind_nulls_clause,
    exp.RespectNulls: bind_nulls_clause,
}
