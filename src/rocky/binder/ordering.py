"""The tail of a query: ORDER BY and its kin, LIMIT and OFFSET."""

from typing import Any

from sqlglot import exp

from rocky.binder.binding import INFLUENCE_ORDER
from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import HAS_AGGREGATE, HAS_GENERATOR, HAS_WINDOW, Expr
from rocky.binder.scopes import Relation, Scope
from rocky.binder.shapes import ordinal_of
from rocky.datatypes import types as t
from rocky.datatypes.ordering import is_orderable
from rocky.diagnostics import Code


def bind_tail(node: exp.Expr, output: Relation, inner: Scope | None, scope: Scope) -> None:
    """Check the clauses after the select list. `inner` is what a SELECT's expressions see."""
    args = node.args
    limited = args.get("limit") is not None or args.get("offset") is not None
    for clause in ("order", "sort", "cluster", "distribute"):
        ordering = args.get(clause)
        if ordering is not None:
            _bind_ordering(ordering, output, inner, scope, limited=limited)
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
        place.inside = inner.inside or inner
        place.windows = inner.windows
    for item in ordering.args["expressions"]:
        node = item.args["this"] if item.__class__ is exp.Ordered else item
        key = _bind_key(node, output, place)
        if key is None:
            continue
        aggregated = inner is None or inner.inside is not None
        _check_key(node, key, ordering, scope, aggregated=aggregated)
        if limited:
            scope.binding.influence(key.sources, INFLUENCE_ORDER)
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


def _check_key(node: Any, key: Expr, ordering: Any, scope: Scope, *, aggregated: bool) -> None:
    """ORDER BY takes neither a generator nor a window function, nor an aggregate out of place."""
    if key.flags & HAS_GENERATOR:
        message, condition = (
            "a generator cannot stand in ORDER BY",
            "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        )
    elif key.flags & HAS_WINDOW and ordering.__class__ is exp.Order:
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
    if problem is not None:
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
