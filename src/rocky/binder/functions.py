"""Function calls: hand rules first, then the catalogue, then a report.

The name is the one the author wrote. Lambdas are bound here because their parameters take their
types from the arguments before them.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.calls import argument_nodes, bind_arguments, report_refusal
from rocky.binder.determinism import note_call
from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import (
    AGGREGATE,
    EXPRESSION,
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_OUTER,
    HAS_WINDOW,
    VOLATILE,
    WINDOW,
    Expr,
    merge_flags,
    merge_sources,
    unknown,
)
from rocky.binder.scopes import Scope
from rocky.catalog.functions import FunctionInfo, all_names, find_function, type_call
from rocky.catalog.generators import GENERATORS
from rocky.catalog.lambdas import HIGHER_ORDER
from rocky.catalog.operand import Operand, Refusal
from rocky.catalog.special import SPECIAL
from rocky.datatypes import types as t
from rocky.diagnostics import Code
from rocky.diagnostics.suggest import closest


# Names the grammar knows and the function registry does not.
_SYNONYMS: Final = {"timediff": "timestampdiff"}


def bind_call(node: exp.Anonymous, scope: Scope) -> Expr:
    """A call that stands on its own, not under OVER."""
    if not isinstance(node.args["this"], str):
        return scope.binding.give_up("a function named by an expression")
    return bind_function(node.args["this"], node, scope, windowed=False)


def bind_function(name: str, node: exp.Expr, scope: Scope, *, windowed: bool) -> Expr:
    """The typed result of calling `name` with the node's arguments."""
    key = name.lower()
    key = _SYNONYMS.get(key, key)
    info = find_function(key)
    if info is None and key not in SPECIAL:
        return _unknown_function(name, node, scope)
    if scope.inside is not None and info is not None and info.kind == "aggregate" and not windowed:
        scope = scope.inside
    higher = HIGHER_ORDER.get(key)
    nodes = argument_nodes(node, scope)
    if any(each.__class__ is exp.Lambda for each in nodes):
        if higher is None:
            return scope.binding.error(
                Code.UNKNOWN_FUNCTION,
                f"`{name}` takes no lambda",
                node,
                "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
            )
        return _bind_higher_order(key, node, nodes, scope)
    args = bind_arguments(key, nodes, scope)
    return type_function(key, info, args, node, scope, windowed=windowed)


def type_function(
    key: str,
    info: FunctionInfo | None,
    args: list[Expr],
    node: exp.Expr,
    scope: Scope,
    *,
    windowed: bool = False,
) -> Expr:
    """The result of a call whose arguments are bound."""
    kind = info.kind if info is not None else "scalar"
    if key in GENERATORS and kind != "aggregate":
        return Expr(t.UNKNOWN, True, merge_sources(args, EXPRESSION), merge_flags(args) | HAS_GENERATOR)
    problem = _misplaced(key, kind, args, node, scope, windowed=windowed)
    if problem is not None:
        return problem
    rule = SPECIAL.get(key)
    if rule is not None:
        outcome = rule(key, args)
    elif info is not None:
        outcome = type_call(info, args)
    else:
        return scope.binding.give_up(f"function `{key}`")
    if isinstance(outcome, Refusal):
        return report_refusal(key, outcome, args, node, scope)
    result, nullable = outcome
    if result is t.UNKNOWN and all(arg.type is not t.UNKNOWN for arg in args):
        scope.binding.give_up(f"function `{key}`")
    return _result(key, info, kind, args, result, nullable, node, scope, windowed=windowed)


def _result(
    key: str,
    info: FunctionInfo | None,
    kind: str,
    args: list[Expr],
    result: t.DataType,
    nullable: bool,  # noqa: FBT001 - passed on
    node: exp.Expr,
    scope: Scope,
    *,
    windowed: bool,
) -> Expr:
    flags = merge_flags(args)
    lineage = EXPRESSION
    foldable = False
    if windowed:
        flags |= HAS_WINDOW
        lineage = WINDOW
    elif kind == "aggregate":
        lineage = AGGREGATE
        if args and all(arg.flags & HAS_OUTER or not arg.sources for arg in args) and flags & HAS_OUTER:
            # An aggregate of outer columns alone belongs to the outer query.
            flags &= ~HAS_OUTER
        else:
            flags |= HAS_AGGREGATE
    else:
        foldable = all(arg.foldable for arg in args)
    if info is not None and not info.deterministic:
        flags |= VOLATILE
        foldable = False
        scope.binding.chances += 1
    note_call(key, info, args, node, scope)
    return Expr(result, nullable, merge_sources(args, lineage), flags, foldable=foldable)


def _misplaced(
    key: str, kind: str, args: list[Expr], node: exp.Expr, scope: Scope, *, windowed: bool
) -> Expr | None:
    """The report for a call that cannot stand where it does, or None."""
    if kind == "aggregate" and not windowed:
        for arg in args:
            if arg.flags & HAS_AGGREGATE:
                return scope.binding.error(
                    Code.INVALID_AGGREGATION,
                    f"`{key}` has an aggregate function inside it",
                    node,
                    "NESTED_AGGREGATE_FUNCTION",
                    help="compute the inner aggregate in a subquery or CTE first",
                )
            if arg.flags & HAS_WINDOW:
                return scope.binding.error(
                    Code.INVALID_AGGREGATION,
                    f"`{key}` has a window function inside it",
                    node,
                    "_LEGACY_ERROR_TEMP_1031",
                    help="compute the window function in a subquery or CTE first",
                )
    if kind == "window" and not windowed:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{key}` needs an OVER clause",
            node,
            "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE",
            help=f"write `{key}(...) OVER (PARTITION BY ... ORDER BY ...)`",
        )
    if windowed and kind not in ("window", "aggregate"):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{key}` is no window or aggregate function, so it takes no OVER clause",
            node,
            "UNSUPPORTED_EXPR_FOR_WINDOW",
        )
    return None


def _bind_higher_order(key: str, node: exp.Expr, nodes: list[Any], scope: Scope) -> Expr:
    """Plain arguments first; then each lambda with the parameter types they give it."""
    rule = HIGHER_ORDER[key]
    bound: list[Expr | None] = [
        None if each.__class__ is exp.Lambda else bind_expression(each, scope) for each in nodes
    ]
    for index, each in enumerate(nodes):
        if bound[index] is not None:
            continue
        names = [parameter.name.lower() for parameter in each.args["expressions"]]
        outer = [arg for arg in bound if arg is not None]
        if len(set(names)) < len(names):
            return scope.binding.error(
                Code.UNKNOWN_FUNCTION,
                "two parameters of a lambda have one name",
                each,
                "INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES",
            )
        parameters = rule.parameters(key, bound, index, len(names))
        if isinstance(parameters, Refusal):
            return report_refusal(key, parameters, outer, node, scope)
        sources = merge_sources(outer, EXPRESSION)
        inner = scope.within(scope.clause)
        inner.lambdas = dict(scope.lambdas or {})
        for name, (kind, nullable) in zip(names, parameters, strict=False):
            inner.lambdas[name] = Expr(kind, nullable, sources, name=name)
        bound[index] = bind_expression(each.args["this"], inner)
    args = [arg for arg in bound if arg is not None]
    outcome = rule.typing(key, args)
    if isinstance(outcome, Refusal):
        return report_refusal(key, outcome, args, node, scope)
    return Expr(outcome[0], outcome[1], merge_sources(args, EXPRESSION), merge_flags(args))


def _unknown_function(name: str, node: exp.Expr, scope: Scope) -> Expr:
    for child in argument_nodes(node, scope):
        if child.__class__ is not exp.Lambda and child.__class__ is not exp.Star:
            bind_expression(child, scope)
    near = closest(name, list(all_names()))
    return scope.binding.error(
        Code.UNKNOWN_FUNCTION,
        f"no function `{name}`",
        node,
        "UNRESOLVED_ROUTINE",
        help=f"there is a function `{near}`" if near else None,
    )


def bind_filter(node: exp.Filter, scope: Scope) -> Expr:
    """`aggregate(...) FILTER (WHERE condition)`."""
    return bind_filtered(node, scope, windowed=False)


def bind_filtered(node: exp.Filter, scope: Scope, *, windowed: bool) -> Expr:
    inner = node.args["this"]
    value = bind_over_target(inner, scope, windowed=windowed)
    condition = bind_expression(node.args["expression"].args["this"], scope)
    name = str(getattr(inner, "name", "") or "").lower()
    info = find_function(name)
    if info is not None and info.kind != "aggregate":
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{name}` is no aggregate function, so it takes no FILTER",
            node,
            "INVALID_SQL_SYNTAX.INVALID_FILTER" if False else "UNRESOLVED_ROUTINE",
        )
    problem = _filter_problem(condition)
    if problem is not None:
        condition_name, message = problem
        return scope.binding.error(Code.INVALID_AGGREGATION, message, node, condition_name)
    found = Expr(
        value.type,
        value.nullable,
        merge_sources((value, condition), AGGREGATE),
        value.flags | condition.flags,
    )
    return found


def _filter_problem(condition: Expr) -> tuple[str, str] | None:
    if condition.flags & VOLATILE:
        return "INVALID_AGGREGATE_FILTER.NON_DETERMINISTIC", "the FILTER is not deterministic"
    if condition.type not in (t.BOOLEAN, t.UNKNOWN, t.NULL):
        return (
            "INVALID_AGGREGATE_FILTER.NOT_BOOLEAN",
            f"the FILTER is `{condition.type}`, not a boolean",
        )
    if condition.flags & HAS_AGGREGATE:
        return "INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE", "the FILTER holds an aggregate"
    if condition.flags & HAS_WINDOW:
        return "INVALID_AGGREGATE_FILTER.CONTAINS_WINDOW_FUNCTION", "the FILTER holds a window function"
    return None


def bind_within_group(node: exp.WithinGroup, scope: Scope) -> Expr:
    """`percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`: the ordering is an argument."""
    return bind_ordered_set(node, scope, windowed=False)


_ORDERED_FIRST: Final = frozenset({"percentile_cont", "percentile_disc", "mode"})


def bind_ordered_set(node: exp.WithinGroup, scope: Scope, *, windowed: bool) -> Expr:
    call = node.args["this"]
    if call.__class__ is not exp.Anonymous:
        return scope.binding.give_up("WITHIN GROUP of this function")
    key = call.args["this"].lower()
    nodes = argument_nodes(call, scope)
    args = bind_arguments(key, nodes, scope)
    ordering = [
        bind_expression(each.args["this"], scope) for each in node.args["expression"].args["expressions"]
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
        return bind_function(node.args["this"], node, scope, windowed=windowed)
    if kind is exp.IgnoreNulls or kind is exp.RespectNulls:
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
    return bind_over_target(node.args["this"], scope, windowed=False)


def operand_of(kind: t.DataType, value: Any) -> Operand:
    """A literal argument the syntax implies, such as the unit of `date_add(DAY, ...)`."""
    return Operand(kind, False, value, True)


FUNCTIONS: Final = {
    exp.Anonymous: bind_call,
    exp.Filter: bind_filter,
    exp.WithinGroup: bind_within_group,
    exp.IgnoreNulls: bind_nulls_clause,
    exp.RespectNulls: bind_nulls_clause,
}

__all__ = ["FUNCTIONS", "bind_function", "bind_over_target", "operand_of", "type_function", "unknown"]
