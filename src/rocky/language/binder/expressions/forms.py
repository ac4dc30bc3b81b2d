"""Expressions with a syntax of their own: CASE, EXTRACT, TRIM, FILTER, WITHIN GROUP, IGNORE NULLS.

Most of them are calls of a plain function, which types them; CASE takes its branches' common type.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import (
    AGGREGATE,
    CONDITIONAL,
    HAS_AGGREGATE,
    HAS_WINDOW,
    VOLATILE,
    Expr,
    merge_flags,
    merge_sources,
)
from rocky.language.binder.expressions.calls import (
    argument_nodes,
    bind_arguments,
    call_kind,
    function_name,
)
from rocky.language.binder.expressions.functions import bind_function, type_function
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import force_nullable
from rocky.language.datatypes.comparison import branch_type, comparison
from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.functions.catalogue import find_function


def _call(key: str, nodes: list[Any], node: exp.Expr, scope: Scope) -> Expr:
    args = [bind_expression(each, scope) for each in nodes if each is not None]
    return type_function(key, find_function(key), args, node, scope)


def bind_extract(node: exp.Extract, scope: Scope) -> Expr:
    """`EXTRACT(field FROM source)` is `date_part('field', source)`."""
    source = bind_expression(node.args["expression"], scope)
    field = Expr(t.STRING, False, value=node.args["this"].name, foldable=True)
    return type_function("date_part", find_function("date_part"), [field, source], node, scope)


def bind_trim(node: exp.Trim, scope: Scope) -> Expr:
    position = (node.args.get("position") or "BOTH").upper()
    key = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(position, "trim")
    return _call(key, [node.args.get("expression"), node.args["this"]], node, scope)


def bind_substring(node: exp.Substring, scope: Scope) -> Expr:
    args = node.args
    return _call("substring", [args["this"], args.get("start"), args.get("length")], node, scope)


def bind_overlay(node: exp.Overlay, scope: Scope) -> Expr:
    args = node.args
    nodes = [args["this"], args.get("expression"), args.get("from_"), args.get("for_")]
    return _call("overlay", nodes, node, scope)


def bind_position(node: exp.StrPosition, scope: Scope) -> Expr:
    args = node.args
    return _call("position", [args.get("substr"), args["this"], args.get("position")], node, scope)


def bind_array(node: exp.Array, scope: Scope) -> Expr:
    """`array(...)`; square brackets by themselves are no Spark SQL."""
    if not node._meta:
        return scope.binding.error(
            Code.SYNTAX_ERROR,
            "square brackets do not make an array",
            node,
            "PARSE_SYNTAX_ERROR",
            help="write `array(...)`, or a name in backticks",
        )
    args = bind_arguments("array", node.args["expressions"], scope)
    return type_function("array", find_function("array"), args, node, scope)


def bind_any(node: exp.Any, scope: Scope) -> Expr:
    """`any(condition)`, the aggregate."""
    args = bind_arguments("any", argument_nodes(node, scope), scope)
    return type_function("any", find_function("any"), args, node, scope)


def _bare(key: str) -> Any:
    def bind_bare(node: exp.Expr, scope: Scope) -> Expr:
        return bind_function(key, node, scope, windowed=False)

    return bind_bare


FORMS: Final[dict[type, Any]] = {
    exp.Extract: bind_extract,
    exp.Trim: bind_trim,
    exp.Substring: bind_substring,
    exp.Overlay: bind_overlay,
    exp.StrPosition: bind_position,
    exp.Array: bind_array,
    exp.Any: bind_any,
    exp.CurrentDate: _bare("current_date"),
    exp.CurrentTimestamp: _bare("current_timestamp"),
    exp.CurrentUser: _bare("current_user"),
    exp.SessionUser: _bare("session_user"),
}


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
            f"`{name}` is not an aggregate function, so it takes no FILTER",
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


def bind_case(node: exp.Case, scope: Scope) -> Expr:
    """`CASE WHEN ...` and `CASE value WHEN ...`."""
    args = node.args
    subject = args.get("this")
    operand = bind_expression(subject, scope) if subject is not None else None
    conditions: list[Expr] = []
    results: list[Expr] = []
    for branch in args["ifs"]:
        condition = bind_expression(branch.args["this"], scope)
        if operand is None:
            _require_boolean(condition, branch.args["this"], node, scope)
        else:
            compare_branch(operand, condition, node, scope)
        conditions.append(condition)
        results.append(bind_expression(branch.args["true"], scope))
    default = args.get("default")
    if default is not None:
        results.append(bind_expression(default, scope))
    found = branch_type("CASE", [result.type for result in results])
    everything = [*conditions, *results, *([operand] if operand is not None else [])]
    if isinstance(found, OperandMismatch):
        return _no_common_type(node, results, scope)
    nullable = _nullable(
        conditions, results, found, simple=operand is not None, full=default is not None
    )
    return Expr(
        found,
        nullable,
        merge_sources(everything, CONDITIONAL),
        merge_flags(everything),
        foldable=all(each.foldable for each in everything),
    )


def compare_branch(operand: Expr, condition: Expr, node: exp.Expr, scope: Scope) -> None:
    """Each WHEN of a simple CASE is compared with the value in front."""
    outcome = comparison("=", operand, condition)
    if isinstance(outcome, OperandMismatch):
        scope.binding.error(Code.INCOMPARABLE_TYPES, outcome.message, node, outcome.condition)


def _require_boolean(condition: Expr, place: Any, node: exp.Expr, scope: Scope) -> None:
    if condition.type not in (t.BOOLEAN, t.UNKNOWN):
        scope.binding.error(
            Code.TYPE_ERROR,
            f"a WHEN condition is `{condition.type}`, not a boolean",
            place,
            "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        )


def _nullable(
    conditions: list[Expr], results: list[Expr], found: t.DataType, *, simple: bool, full: bool
) -> bool:
    """Nullable when a reachable branch is, or when no branch may be taken.

    Branches after a literal TRUE cannot be reached, and Spark knows.
    """
    reachable = results
    if not simple:
        for index, condition in enumerate(conditions):
            if condition.value is True:
                reachable = results[: index + 1]
                full = True
                break
    if not full:
        return True
    return any(
        each.nullable or (each.type is not found and force_nullable(each.type, found))
        for each in reachable
    )


def _no_common_type(node: exp.Case, results: list[Expr], scope: Scope) -> Expr:
    types = list(dict.fromkeys(f"`{result.type}`" for result in results))
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"the branches of CASE have no common type: {', '.join(types)}",
        node,
        "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
        help="cast the branches to one type",
    )


CONDITIONALS: Final[dict[type, Any]] = {exp.Case: bind_case}
