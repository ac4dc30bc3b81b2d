"""Higher-order functions: lambdas are bound after the arguments that type their parameters."""

from typing import Any

from sqlglot import exp

from rocky.binder.calls import report_refusal
from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import EXPRESSION, HAS_SUBQUERY, Expr, merge_flags, merge_sources
from rocky.binder.scopes import Scope
from rocky.catalog.lambdas import HIGHER_ORDER
from rocky.catalog.operand import Refusal
from rocky.diagnostics import Code


def bind_higher_order(key: str, node: exp.Expr, nodes: list[Any], scope: Scope) -> Expr:
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
        body = bind_expression(each.args["this"], inner)
        if body.flags & HAS_SUBQUERY:
            return scope.binding.error(
                Code.INVALID_SUBQUERY,
                "a lambda cannot hold a subquery",
                each,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.HIGHER_ORDER_FUNCTION",
            )
        bound[index] = body
    args = [arg for arg in bound if arg is not None]
    outcome = rule.typing(key, args)
    if isinstance(outcome, Refusal):
        return report_refusal(key, outcome, args, node, scope)
    return Expr(outcome[0], outcome[1], merge_sources(args, EXPRESSION), merge_flags(args))
