"""IDENTIFIER('a.b'): a name given as a constant string."""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expressions.calls import argument_nodes
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.names import split_name


def named_parts(call: exp.Expr, scope: Scope) -> tuple[str, ...] | None:
    """The parts of the name a call of IDENTIFIER spells; None when it spells none, reported."""
    nodes = argument_nodes(call, scope)
    text = _constant_text(nodes[0]) if len(nodes) == 1 else None
    if text is not None:
        return split_name(text)
    if len(nodes) != 1:
        scope.binding.give_up("IDENTIFIER of several values")
        return None
    found = bind_expression(nodes[0], scope)
    if found.type is t.UNKNOWN or (found.foldable and found.type.kind in t.STRING_KINDS):
        scope.binding.give_up("IDENTIFIER of an expression")
        return None
    kind = "WRONG_TYPE" if found.foldable else "NOT_CONSTANT"
    scope.binding.error(
        Code.INVALID_CLAUSE,
        "IDENTIFIER takes a constant string",
        nodes[0],
        f"NOT_A_CONSTANT_STRING.{kind}",
        help="write the name itself",
    )
    return None


def _constant_text(node: Any) -> str | None:
    """What a string literal says, or strings put together by `||`."""
    while node.__class__ is exp.Paren:
        node = node.args["this"]
    if node.__class__ is exp.Literal and node.args["is_string"]:
        return str(node.args["this"])
    if node.__class__ is exp.DPipe:
        left = _constant_text(node.args["this"])
        right = _constant_text(node.args["expression"])
        return None if left is None or right is None else left + right
    return None
