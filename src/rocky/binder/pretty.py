"""From a syntax node to the text Spark prints for it in a generated name.

The text is of the *resolved* expression: `a <> 1` prints as `(NOT (a = 1))` and a date plus an
integer as a call of `date_add`, so some printers ask for types. Casts Spark adds by itself never
show. The table is filled by `rocky.binder.naming`, which lists the families of printers.
"""

from collections.abc import Callable, Iterable
from typing import Any

from sqlglot import exp

from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import Expr
from rocky.binder.scopes import Scope

Printer = Callable[[Any, Scope], str]

PRINTERS: dict[type, Printer] = {}


def pretty(node: Any, scope: Scope) -> str:
    """The node as Spark prints it, or as it was written where no printer knows it."""
    printer = PRINTERS.get(node.__class__)
    if printer is not None:
        return printer(node, scope)
    return written_text(node, scope)


def pretty_list(nodes: Iterable[Any], scope: Scope) -> str:
    return ", ".join([pretty(node, scope) for node in nodes])


def written_text(node: exp.Expr, scope: Scope) -> str:
    """The source text of a node."""
    span = scope.binding.span(node)
    return scope.binding.text[span.start : span.end] if span is not None else "col"


def bind_quietly(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression, when it was bound and reported on before: nothing is noted again."""
    binding = scope.binding
    reported, unknowns = len(binding.diagnostics), dict(binding.unknowns)
    found = bind_expression(node, scope)
    del binding.diagnostics[reported:]
    binding.unknowns = unknowns
    return found
