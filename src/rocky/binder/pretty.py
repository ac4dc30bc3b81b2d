"""From a syntax node to the text Spark prints for it in a generated name.

The text is of the *resolved* expression: `a <> 1` prints as `(NOT (a = 1))` and a date plus an
integer as a call of `date_add`, so some printers ask for types. Casts Spark adds by itself never
show. The table is filled by `rocky.binder.naming`, which lists the families of printers.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from sqlglot import exp

from rocky.binder.binding import silently
from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import Expr
from rocky.binder.scopes import Scope

Printer = Callable[[Any, Scope], str]

_STRETCH: Final = 200
_OPENING: Final = re.compile(r"(?:\b\w+\s+)?(?:\b\w+\s*\(|[\s(+~-])*$")

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


def place_of(node: exp.Expr) -> int | None:
    """Where the first of a node's words stands, if the parser library kept any."""
    starts = [each._meta["start"] for each in node.walk() if each._meta and "start" in each._meta]
    return min(starts) if starts else None


def text_before(node: exp.Expr, scope: Scope) -> str:
    """A stretch of the source that ends where the first word of a node begins."""
    at = place_of(node)
    return scope.binding.text[max(0, at - _STRETCH) : at] if at is not None else ""


def opening_before(node: exp.Expr, scope: Scope) -> str:
    """The names and parentheses that open before the first word of a node: `not upper(trim(`."""
    found = _OPENING.search(text_before(node, scope))
    return found[0] if found is not None else ""


def bind_quietly(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression, when it was bound and reported on before: nothing is noted again."""
    with silently(scope.binding):
        return bind_expression(node, scope)
