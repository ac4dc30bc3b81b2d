"""Keys: what GROUP BY and ORDER BY name, and the tail of a query with LIMIT and OFFSET.

A key is a position, a column, an alias of the select list, or an expression.
"""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.subqueries import predicate_subquery
from rocky.language.binder.expr import (
    HAS_AGGREGATE,
    HAS_CORRELATED,
    HAS_GENERATOR,
    HAS_OUTER,
    HAS_WINDOW,
    Expr,
)
from rocky.language.binder.expressions.dialect_notes import note_sort_key
from rocky.language.binder.names.output_names import output_name
from rocky.language.binder.names.printer import bind_quietly
from rocky.language.binder.scopes import (
    INFLUENCE_ORDER,
    Relation,
    Scope,
    bind_expression,
)
from rocky.language.datatypes import types as t
from rocky.language.datatypes.operators import is_orderable
from rocky.language.syntax.dialect import PIPE


def bind_key(node: Any, select: exp.Select, scope: Scope) -> tuple[Any, Expr]:
    """A key: an ordinal into the select list, a column, an alias of the list, or an expression."""
    named = node.__class__ is exp.Alias
    while node.__class__ is exp.Paren or node.__class__ is exp.Alias:
        node = node.args["this"]
    position = None if named else ordinal_of(node)
    if position is not None:
        return _ordinal(node, position, select, scope)
    if node.__class__ is exp.Column and node.args.get("table") is None:
        name = node.args["this"].name.lower()
        if not scope.relation.find((name,))[0] or name not in scope.relation.index():
            aliased = _aliased_item(name, select, scope)
            if aliased is not None:
                expr = _bind_item(aliased, node, scope, select)
                if expr.flags & HAS_GENERATOR:
                    expr = scope.binding.error(
                        Code.UNKNOWN_COLUMN,
                        f"`{node.name}` is what a generator yields, after the rows are grouped",
                        node,
                        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                        help="use LATERAL VIEW, or generate the rows in a subquery first",
                    )
                return aliased, expr
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
    if select.args.get(PIPE) == "aggregate":
        return _column_at(node, position, scope)
    from_list = select.args.get("expressions") or []
    stars = any(is_star(item) for item in from_list)
    if stars:
        columns = scope.relation.visible()
        if is_star(from_list[0]) and 0 < position <= len(columns):
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


def _column_at(node: Any, position: int, scope: Scope) -> tuple[Any, Expr]:
    """In a pipe AGGREGATE a position counts the columns of the step before it."""
    columns = scope.relation.visible()
    if 0 < position <= len(columns):
        column = columns[position - 1]
        return exp.column(column.name or ""), column
    if not scope.relation.known:
        return node, scope.binding.give_up("a GROUP BY position in rows of unknown columns")
    expr = scope.binding.error(
        Code.INVALID_AGGREGATION,
        f"GROUP BY position {position} is not among the {len(columns)} columns before it",
        node,
        "GROUP_BY_POS_OUT_OF_RANGE",
    )
    return node, expr


def is_star(node: Any) -> bool:
    return node.__class__ is exp.Star or (
        node.__class__ is exp.Column and node.args["this"].__class__ is exp.Star
    )


def bind_tail(node: exp.Expr, output: Relation, inner: Scope | None, scope: Scope) -> None:
    """Check the clauses after the select list. `inner` is what a SELECT's expressions see."""
    args = node.args
    limited = args.get("limit") is not None or args.get("offset") is not None
    for clause in ("order", "sort", "cluster", "distribute"):
        ordering = args.get(clause)
        if ordering is not None:
            _bind_ordering(ordering, output, inner, scope, limited=limited)
            _check_predicates(ordering, scope)
    if args.get("limit") is not None:
        _check_limit(args["limit"], "limit", scope)
        if args.get("order") is None and not _single_row(node):
            scope.binding.mark_volatile("order: LIMIT without ORDER BY keeps arbitrary rows")
    if args.get("offset") is not None:
        _check_limit(args["offset"], "offset", scope)
        if args.get("order") is None:
            scope.binding.mark_volatile("order: OFFSET without ORDER BY drops arbitrary rows")


def _single_row(node: exp.Expr) -> bool:
    return node.args.get("from_") is None and node.__class__ is exp.Select


def _bind_ordering(
    ordering: Any, output: Relation, inner: Scope | None, scope: Scope, *, limited: bool
) -> None:
    place = Scope(
        scope.binding, output, inner.parent if inner else scope.parent, scope.ctes, "order"
    )
    if inner is not None:
        place.fallback = inner.relation
        place.inside = inner.inside
        place.windows = inner.windows
        place.keyed = inner.keyed
        place.grouping = inner.grouping
    for item in ordering.args["expressions"]:
        node = item.args["this"] if item.__class__ is exp.Ordered else item
        key = _bind_key(node, output, place)
        if key is None:
            continue
        # An aggregate in ORDER BY after DISTINCT makes a query one that is none yet.
        aggregated = (
            inner.inside is not None
            if inner
            else ordering.parent.__class__ is exp.Select and not ordering.parent.args.get("group")
        )
        _check_key(node, key, ordering, scope, aggregated=aggregated)
        if key.flags & HAS_CORRELATED:
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "ORDER BY cannot hold a subquery that reads the rows it orders",
                node,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY",
                help="select it under a name and order by that",
            )
        if key.flags & HAS_OUTER and not any(key is column for column in output.columns):
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "ORDER BY cannot use a column of the query around this one",
                node,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.CORRELATED_REFERENCE",
                help="select it under a name and order by that",
            )
        if limited:
            scope.binding.influence(key.sources, INFLUENCE_ORDER)
            note_sort_key(item, key, scope)
        if (
            key.type is not t.UNKNOWN
            and not is_orderable(key.type)
            and ordering.__class__ is exp.Order
        ):
            scope.binding.error(
                Code.TYPE_ERROR,
                f"values of `{key.type}` have no order",
                node,
                "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
            )


def _check_predicates(ordering: Any, scope: Scope) -> None:
    for item in ordering.args["expressions"]:
        found = predicate_subquery(item)
        if found is not None:
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "EXISTS and IN over a subquery cannot stand in ORDER BY",
                found,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_IN_EXISTS_SUBQUERY",
                help="select it under a name and order by that",
            )


def _check_key(node: Any, key: Expr, ordering: Any, scope: Scope, *, aggregated: bool) -> None:
    """ORDER BY takes neither a generator nor a window function, nor an aggregate out of place."""
    if key.flags & HAS_GENERATOR:
        message, condition = (
            "a generator cannot stand in ORDER BY",
            "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        )
    elif key.flags & HAS_WINDOW and (ordering.__class__ is exp.Order or aggregated):
        message, condition = (
            "a window function cannot stand in ORDER BY",
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
        )
    elif key.flags & HAS_AGGREGATE and not aggregated and ordering.__class__ is exp.Order:
        message = "an aggregate cannot order rows that are not aggregated"
        condition = "UNSUPPORTED_EXPR_FOR_OPERATOR"
    else:
        return
    scope.binding.error(
        Code.INVALID_CLAUSE,
        message,
        node,
        condition,
        help="select it under a name and order by that",
    )


def _bind_key(node: Any, output: Relation, scope: Scope) -> Expr | None:
    if node.__class__ is exp.Var:
        return None
    position = ordinal_of(node)
    if position is not None:
        columns = output.visible()
        if output.known and not 0 < position <= len(columns):
            scope.binding.error(
                Code.INVALID_CLAUSE,
                f"ORDER BY position {position} is not in the select list of {len(columns)}",
                node,
                "ORDER_BY_POS_OUT_OF_RANGE",
            )
            return None
        return columns[position - 1] if output.known else None
    return bind_expression(node, scope)


def _check_limit(clause: Any, word: str, scope: Scope) -> None:
    """LIMIT and OFFSET take a constant, non-negative integer."""
    node = clause.args.get("expression")
    if node is None or node.__class__ is exp.Var:
        return
    value = bind_expression(node, Scope(scope.binding, scope.relation, None, scope.ctes, word))
    problem = _limit_problem(value, node)
    if value.flags & HAS_GENERATOR:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"a generator cannot stand in {word.upper()}",
            node,
            "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        )
    elif problem is not None:
        reason, message = problem
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"{word.upper()} {message}",
            node,
            f"INVALID_LIMIT_LIKE_EXPRESSION.{reason}",
        )


def _limit_problem(value: Expr, node: Any) -> tuple[str, str] | None:
    if value.type is t.UNKNOWN:
        return None
    if node.__class__ is exp.Cast and node.args["this"].__class__ is exp.Null:
        return "IS_NULL", "must not be null"
    if not value.foldable:
        return "IS_UNFOLDABLE", "must be a constant"
    if value.type is not t.INT and value.type not in (t.SMALLINT, t.TINYINT):
        if value.value is None:
            return "IS_NULL", "must not be null"
        return "DATA_TYPE", f"must be an `int`, not `{value.type}`"
    if isinstance(value.value, int) and value.value < 0:
        return "IS_NEGATIVE", "must not be negative"
    return None


def ordinal_of(node: Any) -> int | None:
    """The position a plain integer literal means in GROUP BY and ORDER BY; `-1` is one too."""
    sign = 1
    while node.__class__ is exp.Neg or node.__class__ is exp.Paren:
        sign = -sign if node.__class__ is exp.Neg else sign
        node = node.args["this"]
    if node.__class__ is exp.Literal and not node.args["is_string"] and node.args["this"].isdigit():
        return sign * int(node.args["this"])
    return None
