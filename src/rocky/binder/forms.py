"""Calls with a syntax of their own: EXTRACT, TRIM, SUBSTRING ... FROM, and bare words."""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.calls import argument_nodes, bind_arguments
from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import Expr
from rocky.binder.functions import bind_function, type_function
from rocky.binder.scopes import Scope
from rocky.catalog.functions import find_function
from rocky.datatypes import types as t
from rocky.diagnostics import Code


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
