"""The name Spark gives an output column that the author did not name."""

from typing import Any

from sqlglot import exp

from rocky.binder.expression import Expr
from rocky.binder.scopes import Scope


def output_name(node: Any, expr: Expr, scope: Scope) -> tuple[str, bool]:
    """The name of an un-aliased select item, and whether the author chose it."""
    kind = node.__class__
    if kind is exp.Column:
        return node.args["this"].name, True
    if kind is exp.Dot and node.args["expression"].__class__ is exp.Identifier:
        return node.args["expression"].name, True
    return pretty(node, scope), False


def pretty(node: Any, scope: Scope) -> str:
    span = scope.binding.span(node)
    return scope.binding.text[span.start : span.end] if span is not None else "col"
