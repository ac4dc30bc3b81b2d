"""Window functions: the OVER clause and named windows."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import (
    HAS_LATERAL_ALIAS,
    HAS_WINDOW,
    WINDOW,
    Expr,
    merge_flags,
    merge_sources,
)
from rocky.language.binder.expressions.determinism import note_order
from rocky.language.binder.expressions.dialect_notes import note_sort_key
from rocky.language.binder.expressions.frames import frame_problem, is_whole
from rocky.language.binder.expressions.functions import is_distinct
from rocky.language.binder.expressions.modifiers import bind_over_target
from rocky.language.binder.scopes import INFLUENCE_ORDER, Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.operators import is_orderable, partition_refusal

_WHOLE: Final = frozenset({"median", "percentile_cont", "percentile_disc"})
_LISTS: Final = frozenset({"listagg", "string_agg"})
_NEEDS_ORDER: Final = frozenset(
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead nth_value".split()
)


def bind_window(node: exp.Window, scope: Scope) -> Expr:
    """`function(...) OVER (...)`."""
    partition, order, spec = _specification(node, scope)
    if partition is None:
        return _undefined(node, scope)
    before = len(scope.binding.diagnostics)
    value = bind_over_target(node.args["this"], scope, windowed=True)
    reported = len(scope.binding.diagnostics) > before
    keys = [bind_expression(each, scope) for each in partition]
    ordering = [bind_expression(each.args["this"], scope) for each in order]
    for each, key in zip(order, ordering, strict=True):
        note_sort_key(each, key, scope)
    everything = [value, *keys, *ordering]
    scope.binding.influence(merge_sources(ordering, WINDOW), INFLUENCE_ORDER)
    if value.type is t.UNKNOWN and reported:
        return value
    if is_distinct(_call(node)):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            "Spark has no DISTINCT in window functions",
            node,
            "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED",
        )
    for each, key in zip(partition, keys, strict=True):
        refusal = partition_refusal(key.type)
        if refusal is not None:
            return scope.binding.error(Code.TYPE_ERROR, refusal.message, each, refusal.condition)
    if merge_flags(everything) & HAS_LATERAL_ALIAS:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a window function cannot use an alias of its own select list",
            node,
            "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_WINDOW",
            help="write the expression out, or compute it in a CTE first",
        )
    if not is_whole(order, spec) and _takes_whole_partition(node):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{_function_name(node)}` takes a window without order and frame",
            node,
            "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC",
            help="keep PARTITION BY only",
        )
    problem = _order_problem(node, order, ordering, scope) or frame_problem(
        node, _function_name(node), spec, order, ordering, scope
    )
    if problem is not None:
        return problem
    if not order:
        note_order(_function_name(node), scope)
    # Aggregates below the window make the query an aggregate; the function itself does not.
    flags = merge_flags(everything) | HAS_WINDOW
    return Expr(
        value.type,
        value.nullable,
        merge_sources(everything, WINDOW),
        flags,
    )


def _specification(node: exp.Window, scope: Scope) -> tuple[list[Any] | None, list[Any], Any]:
    """The partition keys, ordering and frame, with a named window filled in."""
    args = node.args
    alias = args.get("alias")
    partition = list(args.get("partition_by") or [])
    order = list(args["order"].args["expressions"]) if args.get("order") is not None else []
    spec = args.get("spec")
    if alias is None:
        return partition, order, spec
    if partition or order or spec is not None:
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "a named window cannot be extended",
            node,
            "PARSE_SYNTAX_ERROR",
            help="write the whole window out, or use the name alone",
        )
    named = (scope.windows or {}).get(alias.name.lower())
    if named is None:
        return None, [], None
    below, below_order, below_spec = _specification(named, scope)
    if below is None:
        return None, [], None
    return partition or below, order or below_order, spec or below_spec


def _call(node: Any) -> Any:
    """The call under OVER, without what was written between."""
    inner = node.args["this"]
    while inner.__class__ in (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup):
        inner = inner.args["this"]
    return inner


def _takes_whole_partition(node: Any) -> bool:
    """Whether a function has an order of its own, and so takes no other."""
    name = _function_name(node)
    inner = node.args["this"]
    return name in _WHOLE or (name in _LISTS and inner.__class__ is exp.WithinGroup)


def _undefined(node: exp.Window, scope: Scope) -> Expr:
    name = node.args["alias"].name
    return scope.binding.error(
        Code.INVALID_CLAUSE,
        f"no window called `{name}`",
        node,
        "MISSING_WINDOW_SPECIFICATION",
        help="define it with WINDOW name AS (...)",
    )


def _function_name(node: Any) -> str:
    name = _call(node).args.get("this")
    return name.lower() if isinstance(name, str) else ""


def _order_problem(
    node: exp.Window, order: list[Any], ordering: list[Expr], scope: Scope
) -> Expr | None:
    name = _function_name(node)
    if name in _NEEDS_ORDER and not order:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{name}` needs its window to be ordered",
            node,
            "_LEGACY_ERROR_TEMP_1037",
            help="add ORDER BY to the OVER clause",
        )
    for each, bound in zip(order, ordering, strict=True):
        if bound.type is not t.UNKNOWN and not is_orderable(bound.type):
            return scope.binding.error(
                Code.TYPE_ERROR,
                f"values of `{bound.type}` have no order",
                each,
                "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
            )
    return None


WINDOWS: Final[dict[type, Any]] = {exp.Window: bind_window}
