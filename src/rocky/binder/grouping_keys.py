"""A key of GROUP BY: a position, a column, an alias of the select list, or an expression."""

from typing import Any

from sqlglot import exp

from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import HAS_AGGREGATE, HAS_GENERATOR, Expr
from rocky.binder.naming import output_name
from rocky.binder.pretty import bind_quietly
from rocky.binder.scopes import Scope
from rocky.binder.shapes import ordinal_of
from rocky.diagnostics import Code


def bind_key(node: Any, select: exp.Select, scope: Scope) -> tuple[Any, Expr]:
    """A key: an ordinal into the select list, a column, an alias of the list, or an expression."""
    while node.__class__ is exp.Paren or node.__class__ is exp.Alias:
        node = node.args["this"]
    position = ordinal_of(node)
    if position is not None:
        return _ordinal(node, position, select, scope)
    if node.__class__ is exp.Column and node.args.get("table") is None:
        name = node.args["this"].name.lower()
        if not scope.relation.find((name,))[0] or name not in scope.relation.index():
            aliased = _aliased_item(name, select, scope)
            if aliased is not None:
                return aliased, _bind_item(aliased, node, scope, select)
    elif node.__class__ is not exp.Column and _names_alias(node, select, scope):
        scope = scope.within("group")
        scope.aliases = {}
        for item in select.args["expressions"]:
            if item.__class__ is exp.Alias:
                name = item.args["alias"].name.lower()
                scope.aliases.setdefault(name, []).append(bind_quietly(item.args["this"], scope))
    return node, bind_expression(node, scope)


def _names_alias(node: Any, select: exp.Select, scope: Scope) -> bool:
    """Whether a grouping expression uses a name that only the select list has."""
    return any(
        not column.args.get("table")
        and not scope.relation.find((column.name.lower(),))[0]
        and _aliased_item(column.name.lower(), select, scope) is not None
        for column in node.find_all(exp.Column)
    )


def _bind_item(item: Any, place: Any, scope: Scope, select: exp.Select) -> Expr:
    inner = scope.within("select")
    inner.aliases = {}
    for each in select.args["expressions"]:
        if each.__class__ is exp.Alias and each.args["this"] is item:
            break
        if each.__class__ is exp.Alias and each.args["this"].__class__ is not exp.Window:
            name = each.args["alias"].name.lower()
            if name in scope.relation.index():
                continue
            inner.aliases.setdefault(name, []).append(bind_quietly(each.args["this"], inner))
    return bind_expression(item, inner)


def _aliased_item(name: str, select: exp.Select, scope: Scope) -> Any:
    """The select item of a name: an alias, or the name Spark would make up."""
    items = select.args.get("expressions") or []
    for item in items:
        if item.__class__ is exp.Alias and item.args["alias"].name.lower() == name:
            return item.args["this"]
    for item in items:
        if item.__class__ not in (exp.Alias, exp.Column, exp.Star, exp.Aliases):
            made_up, _ = output_name(item, bind_quietly(item, scope), scope)
            if made_up.lower() == name:
                return item
    return None


def _ordinal(node: Any, position: int, select: exp.Select, scope: Scope) -> tuple[Any, Expr]:
    from_list = select.args.get("expressions") or []
    stars = any(is_star(item) for item in from_list)
    if stars:
        columns = scope.relation.visible()
        if from_list[0].__class__ is exp.Star and 0 < position <= len(columns):
            if len(from_list) == 1:
                expr: Expr = scope.binding.error(
                    Code.INVALID_AGGREGATION,
                    "a position in GROUP BY cannot point into `*`",
                    node,
                    "STAR_GROUP_BY_POS",
                )
                return node, expr
            return node, columns[position - 1]
        return node, scope.binding.give_up("a GROUP BY position after `*`")
    if not 0 < position <= len(from_list):
        expr = scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"GROUP BY position {position} is not in the select list of {len(from_list)}",
            node,
            "GROUP_BY_POS_OUT_OF_RANGE",
        )
        return node, expr
    item = from_list[position - 1]
    inner = item.args["this"] if item.__class__ is exp.Alias else item
    expr = _bind_item(inner, node, scope, select)
    if expr.flags & HAS_AGGREGATE:
        expr = scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"GROUP BY position {position} is an aggregate",
            node,
            "GROUP_BY_POS_AGGREGATE",
        )
    if expr.flags & HAS_GENERATOR:
        # Pointing at a generator by its position groups by what it yields.
        expr = Expr(expr.type, expr.nullable, expr.sources, expr.flags & ~HAS_GENERATOR)
    return inner, expr


def is_star(node: Any) -> bool:
    return node.__class__ is exp.Star or (
        node.__class__ is exp.Column and node.args["this"].__class__ is exp.Star
    )
