"""What may stand after a call: FILTER, WITHIN GROUP, IGNORE NULLS; and what stands under OVER.

The ordering of WITHIN GROUP is an argument of the aggregate: `percentile_cont`, `percentile_disc`
and `mode` aggregate what it orders by, `listagg` only follows it.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import (
    AGGREGATE,
    HAS_AGGREGATE,
    HAS_WINDOW,
    VOLATILE,
    Expr,
    merge_sources,
)
from rocky.language.binder.expressions.calls import (
    argument_nodes,
    bind_arguments,
    call_kind,
    call_parts,
    function_name,
)
from rocky.language.binder.expressions.functions import (
    bind_function,
    is_distinct,
    refuse_inside_aggregate,
    type_function,
)
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.binder.shapes import shape_of
from rocky.language.datatypes import types as t
from rocky.language.datatypes.operators import is_orderable
from rocky.language.functions.catalogue import find_function

_ORDERED_FIRST: Final = frozenset({"percentile_cont", "percentile_disc", "mode"})
_ORDERED_LISTS: Final = frozenset({"listagg", "string_agg"})
_NULLS_CLAUSE: Final = frozenset(
    "first first_value last last_value any_value nth_value lag lead".split()
)
_ORDERING: Final = "INVALID_WITHIN_GROUP_EXPRESSION"
_UNSUPPORTED_SYNTAX: Final = "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"


def bind_filter(node: exp.Filter, scope: Scope) -> Expr:
    """`aggregate(...) FILTER (WHERE condition)`."""
    return bind_filtered(node, scope, windowed=False)


def bind_filtered(node: exp.Filter, scope: Scope, *, windowed: bool) -> Expr:
    inner = node.args["this"]
    value = bind_over_target(inner, scope, windowed=windowed)
    place = scope if windowed else scope.inside or scope
    condition = bind_expression(node.args["expression"].args["this"], place)
    while inner.__class__ in (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls):
        inner = inner.args["this"]
    name = str(getattr(inner, "name", "") or "").lower()
    if windowed and call_kind(name) != "window":
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            "Spark has no FILTER in window functions",
            node,
            "_LEGACY_ERROR_TEMP_1030",
            help=f"use `{name}(CASE WHEN condition THEN value END) OVER (...)`",
        )
    if call_kind(name) not in ("aggregate", "") or _takes_no_filter(inner, scope):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{name}` is not an aggregate function of Spark's, so it takes no FILTER",
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


def _takes_no_filter(call: Any, scope: Scope) -> bool:
    """Whether a call is of a declared function that is no aggregate, or one in Python."""
    if call.__class__ is not exp.Anonymous or call_kind(function_name(call).lower()):
        return False
    found = scope.binding.tables.function(call_parts(call))
    return found is not None and found.usable and (found.kind != "catalog" or found.gives_rows)


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
    """The call under WITHIN GROUP, on its own or under OVER."""
    call = node.args["this"]
    if call.__class__ is not exp.Anonymous:
        return scope.binding.give_up("WITHIN GROUP of this function")
    key = function_name(call).lower()
    keys = node.args["expression"].args["expressions"] if node.args.get("expression") else []
    if not keys:
        return scope.binding.error(
            Code.SYNTAX_ERROR, "WITHIN GROUP needs an ORDER BY", node, "PARSE_SYNTAX_ERROR"
        )
    scope = scope if windowed else scope.inside or scope
    if key not in _ORDERED_FIRST and key not in _ORDERED_LISTS:
        return _not_ordered(key, call, node, scope)
    nodes = argument_nodes(call, scope)
    args = bind_arguments(key, nodes, scope)
    ordering = [bind_expression(each.args["this"], scope) for each in keys]
    problem = _ordering_problem(key, call, nodes, keys, ordering)
    if problem is not None:
        condition, message = problem
        return scope.binding.error(Code.INVALID_AGGREGATION, message, node, condition)
    info = find_function(key)
    if key in _ORDERED_FIRST:
        return type_function(key, info, [*ordering, *args], node, scope, windowed=windowed)
    refused = None if windowed else refuse_inside_aggregate(key, ordering, node, scope)
    if refused is not None:
        return refused
    if not windowed and not _orders_itself(node, scope):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            "the values of `listagg(DISTINCT ...)` are ordered by themselves alone",
            node,
            f"{_ORDERING}.MISMATCH_WITH_DISTINCT_INPUT",
        )
    scope.binding.notes.append(("listagg-order", node))
    found = type_function(key, info, args, node, scope, windowed=windowed)
    found.sources = merge_sources((found, *ordering), AGGREGATE)
    return found


def _not_ordered(key: str, call: Any, node: exp.WithinGroup, scope: Scope) -> Expr:
    """A call that takes no WITHIN GROUP: what is wrong with the call itself is said first."""
    before = len(scope.binding.diagnostics)
    bind_function(function_name(call), call, scope, windowed=call_kind(key) == "window")
    if any(
        (each.condition or "").startswith(("WRONG_NUM_ARGS", "UNRESOLVED_ROUTINE"))
        for each in scope.binding.diagnostics[before:]
    ):
        return Expr(t.UNKNOWN, True)
    return scope.binding.error(
        Code.INVALID_AGGREGATION, f"`{key}` takes no WITHIN GROUP", node, _UNSUPPORTED_SYNTAX
    )


def _ordering_problem(
    key: str, call: Any, nodes: list[Any], keys: list[Any], ordering: list[Expr]
) -> tuple[str, str] | None:
    """What is wrong with the ordering of WITHIN GROUP: the condition and the words."""
    for bound in ordering:
        if bound.type is not t.UNKNOWN and not is_orderable(bound.type):
            return (
                "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
                f"values of `{bound.type}` have no order",
            )
    if key in _ORDERED_LISTS:
        return None
    if is_distinct(call) and not nodes:
        return "UNRESOLVED_COLUMN.WITH_SUGGESTION", "no column `DISTINCT`"
    if is_distinct(call):
        return f"{_ORDERING}.DISTINCT_UNSUPPORTED", f"`{key}` takes no DISTINCT"
    wanted = 0 if key == "mode" else 1
    if key != "mode" and len(nodes) != wanted:
        return (
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            f"`{key}` takes {wanted} argument, not {len(nodes)}",
        )
    if len(keys) != 1 or len(nodes) != wanted:
        return (
            f"{_ORDERING}.WRONG_NUM_ORDERINGS",
            f"`{key}` takes what it aggregates from one ORDER BY key",
        )
    return None


def _orders_itself(node: exp.WithinGroup, scope: Scope) -> bool:
    """Whether the order of a `listagg(DISTINCT ...)` is that of its values; of any other, True."""
    call = node.args["this"]
    keys = node.args["expression"].args["expressions"]
    nodes = argument_nodes(call, scope)
    if not is_distinct(call) or not nodes:
        return True
    value = bind_expression(nodes[0], scope)
    shape = shape_of(nodes[0], scope)
    if value.type.kind not in t.STRING_KINDS and value.type.kind not in ("binary", "unknown"):
        # What is listed is the text of the value.
        shape = ("cast", shape, "string")
    return len(keys) == 1 and bool(shape_of(keys[0].args["this"], scope) == shape)


def bind_over_target(node: exp.Expr, scope: Scope, *, windowed: bool) -> Expr:
    """The call under FILTER, IGNORE NULLS or OVER."""
    kind = node.__class__
    if kind is exp.Anonymous:
        return bind_function(function_name(node), node, scope, windowed=windowed)
    if kind is exp.IgnoreNulls or kind is exp.RespectNulls:
        inner = node.args["this"]
        call = inner.args["this"] if inner.__class__ is exp.WithinGroup else inner
        ignores = kind is exp.IgnoreNulls and call.__class__ is exp.Anonymous
        if ignores and function_name(call).lower() not in _NULLS_CLAUSE:
            return scope.binding.error(
                Code.INVALID_AGGREGATION,
                f"`{function_name(call)}` takes no IGNORE NULLS",
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
    if windowed:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            "OVER stands after a window or aggregate function",
            node,
            "UNSUPPORTED_EXPR_FOR_WINDOW",
        )
    return bind_expression(node, scope)


def bind_nulls_clause(node: exp.Expr, scope: Scope) -> Expr:
    return bind_over_target(node, scope, windowed=False)


MODIFIERS: Final[dict[type, Any]] = {
    exp.Filter: bind_filter,
    exp.WithinGroup: bind_within_group,
    exp.IgnoreNulls: bind_nulls_clause,
    exp.RespectNulls: bind_nulls_clause,
}
