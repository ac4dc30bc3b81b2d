"""Window functions: the OVER clause, named windows and what a frame may hold."""

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
from rocky.language.binder.expressions.forms import bind_over_target
from rocky.language.binder.expressions.functions import is_distinct
from rocky.language.binder.scopes import INFLUENCE_ORDER, Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.arithmetic import arithmetic
from rocky.language.datatypes.operators import OperandMismatch, is_orderable, partition_refusal

_NEEDS_ORDER: Final = frozenset(
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead nth_value".split()
)
_BACKWARDS: Final = frozenset({("following", "preceding"), ("FOLLOWING", "PRECEDING")})
_OFFSETS: Final = frozenset({"lag", "lead"})


def bind_window(node: exp.Window, scope: Scope) -> Expr:
    """`function(...) OVER (...)`."""
    partition, order, spec = _specification(node, scope)
    if partition is None:
        return _undefined(node, scope)
    value = bind_over_target(node.args["this"], scope, windowed=True)
    keys = [bind_expression(each, scope) for each in partition]
    ordering = [bind_expression(each.args["this"], scope) for each in order]
    everything = [value, *keys, *ordering]
    scope.binding.influence(merge_sources(ordering, WINDOW), INFLUENCE_ORDER)
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
    problem = _order_problem(node, order, ordering, scope) or _frame_problem(
        node, spec, order, ordering, scope
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
    if partition or order:
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


def _frame_problem(
    node: exp.Window, spec: Any, order: list[Any], ordering: list[Expr], scope: Scope
) -> Expr | None:
    """What Spark refuses about ROWS and RANGE frames."""
    if spec is None:
        return None
    ranged = str(spec.args.get("kind") or "").upper() == "RANGE"
    bounds = [
        each
        for each in (spec.args.get("start"), spec.args.get("end"))
        if isinstance(each, exp.Expr)
    ]
    name = _function_name(node)
    if name in _NEEDS_ORDER and name != "nth_value":
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{name}` has a frame of its own and takes no other",
            node,
            "WINDOW_FUNCTION_AND_FRAME_MISMATCH" if name in _OFFSETS else "_LEGACY_ERROR_TEMP_1036",
        )
    if (spec.args.get("start_side"), spec.args.get("end_side")) in _BACKWARDS:
        return scope.binding.error(
            Code.INVALID_CLAUSE,
            "a frame cannot end before it starts",
            node,
            "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON",
        )
    bound = [bind_expression(each, scope) for each in bounds]
    for each, value in zip(bounds, bound, strict=True):
        if not value.foldable and value.type is not t.UNKNOWN:
            return scope.binding.error(
                Code.INVALID_CLAUSE,
                "the bound of a frame must be a constant",
                each,
                "_LEGACY_ERROR_TEMP_0064",
            )
    if not ranged:
        for each, value in zip(bounds, bound, strict=True):
            if value.type not in (t.INT, t.UNKNOWN, t.SMALLINT, t.TINYINT):
                return _bad_bound(
                    each, f"a ROWS frame is bounded by `int`, not `{value.type}`", node, scope
                )
        return None
    if not bounds:
        return None
    if not order:
        return scope.binding.error(
            Code.INVALID_CLAUSE,
            "a RANGE frame needs an ORDER BY",
            node,
            "DATATYPE_MISMATCH.RANGE_FRAME_WITHOUT_ORDER",
        )
    if len(order) > 1:
        return scope.binding.error(
            Code.INVALID_CLAUSE,
            "a RANGE frame with bounds takes one ordering key",
            node,
            "DATATYPE_MISMATCH.RANGE_FRAME_MULTI_ORDER",
        )
    return _range_bounds(bounds, bound, ordering[0], node, scope)


def _range_bounds(
    bounds: list[Any], bound: list[Expr], key: Expr, node: exp.Window, scope: Scope
) -> Expr | None:
    if key.type is t.UNKNOWN:
        return None
    for each, value in zip(bounds, bound, strict=True):
        if value.type is t.UNKNOWN:
            continue
        if key.type.kind in t.STRING_KINDS or key.type.kind in (
            "boolean",
            "array",
            "map",
            "struct",
            "binary",
        ):
            return scope.binding.error(
                Code.TYPE_ERROR,
                f"a RANGE frame cannot measure distances between values of `{key.type}`",
                node,
                "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE"
                if value.type.kind in t.STRING_KINDS
                else "DATATYPE_MISMATCH.RANGE_FRAME_INVALID_TYPE",
            )
        outcome = arithmetic("+", key, value)
        if isinstance(outcome, OperandMismatch) or value.type.kind in t.STRING_KINDS:
            return _bad_bound(
                each,
                f"a RANGE frame over `{key.type}` cannot be bounded by `{value.type}`",
                node,
                scope,
            )
    return None


def _bad_bound(place: Any, message: str, node: exp.Window, scope: Scope) -> Expr:
    return scope.binding.error(
        Code.TYPE_ERROR,
        message,
        place if scope.binding.span(place) is not None else node,
        "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE",
    )


WINDOWS: Final[dict[type, Any]] = {exp.Window: bind_window}
