"""Printing the arguments of declared functions where some are passed by name."""

from typing import Any

from sqlglot import exp

from rocky.language.binder.expressions.calls import call_parts
from rocky.language.binder.names.printer import pretty
from rocky.language.binder.scopes import Scope


def named_arguments(node: exp.Expr, nodes: list[Any], scope: Scope) -> list[str]:
    """The arguments of a declared function, some by name: SQL has them all in order, code as is."""
    function = scope.binding.tables.function(call_parts(node))
    texts = [
        f"{each.args['this'].name} => {pretty(each.args['expression'], scope)}"
        if each.__class__ is exp.Kwarg
        else pretty(each, scope)
        for each in nodes
    ]
    if function is None or function.kind != "sql":
        return texts
    given = {
        each.args["this"].name.lower(): pretty(each.args["expression"], scope)
        for each in nodes
        if each.__class__ is exp.Kwarg
    }
    placed = [
        text for each, text in zip(nodes, texts, strict=True) if each.__class__ is not exp.Kwarg
    ]
    rest = function.parameters[len(placed) :]
    return [*placed, *(given.get(each.name.lower(), each.default or "") for each in rest)]
