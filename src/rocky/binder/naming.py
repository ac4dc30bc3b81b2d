"""The name Spark gives an output column that the author did not name.

It is the text of the resolved expression, so `count(*)` is called `count(1)`. A cast column keeps
its own name, and a field taken from a column is called by the field.
"""

from typing import Any

from sqlglot import exp

from rocky.binder.columns import BARE_FUNCTIONS
from rocky.binder.expression import Column, Expr
from rocky.binder.pretty import PRINTERS, bind_quietly, pretty
from rocky.binder.pretty_calls import CALL_PRINTERS
from rocky.binder.pretty_columns import COLUMN_PRINTERS
from rocky.binder.pretty_literals import LITERAL_PRINTERS
from rocky.binder.pretty_operators import OPERATOR_PRINTERS
from rocky.binder.pretty_subqueries import SUBQUERY_PRINTERS
from rocky.binder.pretty_windows import WINDOW_PRINTERS
from rocky.binder.scopes import Scope
from rocky.datatypes.types import UNKNOWN

PRINTERS.update(LITERAL_PRINTERS)
PRINTERS.update(COLUMN_PRINTERS)
PRINTERS.update(OPERATOR_PRINTERS)
PRINTERS.update(SUBQUERY_PRINTERS)
PRINTERS.update(CALL_PRINTERS)
PRINTERS.update(WINDOW_PRINTERS)


def output_name(node: Any, expr: Expr, scope: Scope) -> tuple[str, bool]:
    """The name of an un-aliased select item, and whether the author chose it."""
    node = _bare(node)
    kind = node.__class__
    if kind is exp.Column:
        word = str(node.args["this"].name)
        if isinstance(expr, Column) or word.lower() not in BARE_FUNCTIONS:
            return word, True
        return pretty(node, scope), False
    if kind is exp.Dot and node.args["expression"].__class__ is exp.Identifier:
        if _is_path(node.args["this"]):
            return str(node.args["expression"].name), True
    elif kind is exp.Cast or kind is exp.TryCast:
        inner = _bare(node.args["this"])
        if inner.__class__ is exp.Column and isinstance(bind_quietly(inner, scope), Column):
            return str(inner.args["this"].name), True
    if expr.type is UNKNOWN:
        # Nobody will read a column of this name; what was written is good enough.
        span = scope.binding.span(node)
        return (scope.binding.text[span.start : span.end] if span else "col"), False
    return pretty(node, scope), False


def _bare(node: Any) -> Any:
    while node.__class__ is exp.Paren and not node.args.get("plus"):
        node = node.args["this"]
    return node


def _is_path(node: Any) -> bool:
    """Whether a node is nothing but a column and fields inside it."""
    node = _bare(node)
    if node.__class__ is exp.Dot:
        return node.args["expression"].__class__ is exp.Identifier and _is_path(node.args["this"])
    return node.__class__ is exp.Column
