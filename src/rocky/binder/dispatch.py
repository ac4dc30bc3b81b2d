"""From a syntax node to the function that binds it.

The tables are filled once by `rocky.binder.rules`, which lists every family of expressions; a
family binds its children through here, so that families need not know each other.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from rocky.binder.expression import Expr
from rocky.binder.scopes import Relation, Scope

ExpressionRule = Callable[[Any, Scope], Expr]
QueryRule = Callable[[Any, Scope], Relation]

EXPRESSIONS: dict[type, ExpressionRule] = {}
QUERIES: dict[type, QueryRule] = {}


def bind_expression(node: exp.Expr, scope: Scope) -> Expr:
    """The typed expression a node stands for; an unknown where there is no rule."""
    rule = EXPRESSIONS.get(node.__class__)
    if rule is None:
        return scope.binding.give_up(f"syntax {node.__class__.__name__.lower()}")
    return rule(node, scope)


def bind_query(node: exp.Expr, scope: Scope) -> Relation:
    """The relation a query yields. `scope` is where it stands: its outer columns and CTEs."""
    rule = QUERIES.get(node.__class__)
    if rule is None:
        scope.binding.give_up(f"syntax {node.__class__.__name__.lower()}")
        return Relation([], known=False)
    return rule(node, scope)
