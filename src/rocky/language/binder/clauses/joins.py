"""Joins: which columns come out, and which of them an unmatched row makes null."""

from bisect import bisect_left
from collections import Counter
from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.keys import bind_tail
from rocky.language.binder.clauses.pivots import bind_pivots
from rocky.language.binder.clauses.relations import (
    aliased,
    bind_generator,
    bind_lateral_view,
    unqualified,
)
from rocky.language.binder.clauses.subqueries import bind_with, predicate_subquery
from rocky.language.binder.clauses.time_windows import refuse_time_window
from rocky.language.binder.expr import (
    DIRECT,
    HAS_AGGREGATE,
    HAS_CORRELATED,
    HAS_GENERATOR,
    HAS_WINDOW,
    VOLATILE,
    Column,
    Expr,
    merge_sources,
)
from rocky.language.binder.expressions.determinism import note_sample
from rocky.language.binder.scopes import (
    EMPTY_RELATION,
    INFLUENCE_JOIN,
    Relation,
    Scope,
    bind_expression,
    bind_query,
    origin_labels,
)
from rocky.language.datatypes import types as t
from rocky.language.datatypes.coercion import widest_type
from rocky.language.datatypes.comparison import is_unsafe_comparison
from rocky.language.datatypes.operators import is_orderable
from rocky.language.syntax.dialect import PIPE
from rocky.language.syntax.parser import first_offset


def bind_from(select: exp.Expr, scope: Scope, start: Relation | None = None) -> Relation:
    """The relation of a FROM clause with its joins and lateral views."""
    relation = start if start is not None else bind_query(select.args["from_"].args["this"], scope)
    source = select.args["from_"].args["this"] if select.args.get("from_") else None
    if source is not None and start is None:
        for join in source.args.get("joins") or []:
            relation = bind_join(relation, join, scope)
        for lateral in source.args.get("laterals") or []:
            relation = bind_lateral_view(lateral, relation, scope)
    for join in select.args.get("joins") or []:
        relation = bind_join(relation, join, scope)
    for lateral in select.args.get("laterals") or []:
        relation = bind_lateral_view(lateral, relation, scope)
    return relation


def bind_derived(node: exp.Subquery, outer: Scope) -> Relation:
    """`(SELECT ...) alias` or `(a JOIN b) alias` in FROM, or a whole query in parentheses."""
    scope = bind_with(node, outer)
    inner = node.args["this"]
    relation = bind_query(inner, scope)
    plain = inner.__class__ is exp.Table or inner.__class__ is exp.Subquery
    if plain:
        for join in inner.args.get("joins") or []:
            relation = bind_join(relation, join, scope)
    bind_tail(node, relation, None, scope)
    note_sample(node.args.get("sample"), scope)
    if node.args.get("alias") is not None:
        relation = aliased(relation, node.args["alias"], node, scope)
    elif not plain and not node.args.get(PIPE):
        # Spark gives a derived table without alias a name nobody can write.
        relation = unqualified(relation)
    return (
        bind_pivots(relation, node.args["pivots"], scope) if node.args.get("pivots") else relation
    )


def bind_join(left: Relation, join: exp.Join, scope: Scope) -> Relation:
    """The relation after one join, and after the PIVOT that follows it: that is of both sides."""
    if join.args["this"].args.get("pivots") and not _follows_comma(join, scope):
        join.set("pivots", join.args["this"].args.pop("pivots"))
    relation = _bind_join(left, join, scope)
    pivots = join.args.get("pivots")
    return bind_pivots(relation, pivots, scope) if pivots else relation


def _follows_comma(join: exp.Join, scope: Scope) -> bool:
    """Whether an item of FROM stands after a comma, and not after JOIN."""
    start = first_offset(join.args["this"])
    tokens = scope.binding.tokens
    at = bisect_left(tokens, start, key=lambda token: token.start)
    while at > 0 and tokens[at - 1].text == "(":
        at -= 1
    return at > 0 and tokens[at - 1].text == ","


def _bind_join(left: Relation, join: exp.Join, scope: Scope) -> Relation:
    args = join.args
    right = _right_side(left, args["this"], scope)
    side = (args.get("side") or "").upper()
    kind = (args.get("kind") or "").upper()
    unknown = (kind in ("SEMI", "ANTI") and side in ("RIGHT", "FULL")) or (
        kind == "OUTER" and not side
    )
    if unknown or (kind == "CROSS" and side):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            f"Spark has no {side} {kind} JOIN".replace("  ", " "),
            join,
            "PARSE_SYNTAX_ERROR",
            help="say LEFT, RIGHT or FULL before OUTER; SEMI and ANTI keep the left side",
        )
    if args.get("using") or (args.get("method") or "").upper() == "NATURAL":
        if kind in ("CROSS", "SEMI", "ANTI") and not args.get("using"):
            scope.binding.error(
                Code.INVALID_CLAUSE,
                f"a NATURAL join cannot be a {kind} join",
                join,
                "INCOMPATIBLE_JOIN_TYPES",
            )
        natural = (args.get("method") or "").upper() == "NATURAL"
        if args.get("on") is not None or (natural and args.get("using")):
            scope.binding.error(
                Code.SYNTAX_ERROR,
                "a join takes one of NATURAL, USING and ON",
                join,
                "PARSE_SYNTAX_ERROR",
            )
        if args["this"].__class__ is exp.Lateral:
            scope.binding.error(
                Code.INVALID_CLAUSE,
                "a lateral join takes ON, neither USING nor NATURAL",
                join,
                "UNSUPPORTED_FEATURE.LATERAL_JOIN_USING"
                if args.get("using")
                else "INCOMPATIBLE_JOIN_TYPES",
            )
        return _merge_named(left, right, join, side, kind, scope)
    condition = args.get("on")
    if side in ("RIGHT", "FULL") and args["this"].__class__ is exp.Lateral:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"a lateral join cannot be a {side} join",
            join,
            "INVALID_LATERAL_JOIN_TYPE",
        )
    if condition is not None:
        refuse_time_window([condition], "the condition of a join", scope)
        bound = _bind_condition(left, right, condition, scope)
        _check_subqueries(bound, join, scope)
        if args["this"].__class__ is exp.Lateral and bound.flags & VOLATILE:
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "the condition of a lateral join must be deterministic",
                condition,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.LATERAL_JOIN_CONDITION_NON_DETERMINISTIC",
            )
    if kind in ("SEMI", "ANTI"):
        if args["this"].__class__ is exp.Lateral:
            scope.binding.error(
                Code.INVALID_CLAUSE,
                f"a lateral join cannot be a {kind} join",
                join,
                "INVALID_LATERAL_JOIN_TYPE",
            )
        return left
    return Relation(
        [*_left_columns(left, side), *_right_columns(right, side)], left.known and right.known
    )


def _check_subqueries(condition: Expr, join: exp.Join, scope: Scope) -> None:
    """Which subqueries a join condition may hold: none that is a value of the joined rows."""
    lateral = join.args["this"].__class__ is exp.Lateral
    if condition.flags & HAS_CORRELATED:
        message, kind = "a correlated value", "UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY"
    elif lateral and predicate_subquery(join.args["on"]) is not None:
        message, kind = "EXISTS or IN", "UNSUPPORTED_IN_EXISTS_SUBQUERY"
    else:
        return
    scope.binding.error(
        Code.INVALID_SUBQUERY,
        f"the condition of a {'lateral ' if lateral else ''}join cannot hold a subquery that is"
        f" {message}",
        join,
        f"UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.{kind}",
        help="compute it in a subquery of FROM first",
    )


def _left_columns(left: Relation, side: str) -> list[Column]:
    if side in ("RIGHT", "FULL"):
        return [column.nulled() for column in left.columns]
    return left.columns


def _right_columns(right: Relation, side: str) -> list[Column]:
    if side in ("LEFT", "FULL"):
        return [column.nulled() for column in right.columns]
    return right.columns


def _right_side(left: Relation, node: Any, scope: Scope) -> Relation:
    if node.__class__ is not exp.Lateral:
        relation = bind_query(node, scope)
        for join in node.args.get("joins") or []:
            relation = bind_join(relation, join, scope)
        for lateral in node.args.get("laterals") or []:
            relation = bind_lateral_view(lateral, relation, scope)
        return relation
    # A lateral item sees the relation to its left as an outer query.
    inner = Scope(scope.binding, left, scope.parent, scope.ctes)
    this = node.args["this"]
    if this.__class__ is exp.Subquery:
        chances = scope.binding.chances
        relation = bind_query(this, inner)
        # Over a single row Spark lets chance pass; rows of a table are many.
        if scope.binding.chances > chances and any(column.open for column in left.columns):
            scope.binding.error(
                Code.INVALID_SUBQUERY,
                "a lateral subquery must be deterministic",
                node,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.NON_DETERMINISTIC_LATERAL_SUBQUERIES",
            )
    else:
        relation = bind_generator(this, scope, inner)
    if node.args.get("outer"):
        relation = Relation([column.nulled() for column in relation.columns], relation.known)
    return aliased(relation, node.args.get("alias"), node, scope)


def bind_lateral(node: exp.Lateral, scope: Scope) -> Relation:
    """`FROM LATERAL (...)`: lateral to nothing."""
    return _right_side(EMPTY_RELATION, node, scope)


def _bind_condition(left: Relation, right: Relation, node: exp.Expr, scope: Scope) -> Expr:
    both = Relation([*left.columns, *right.columns], left.known and right.known)
    inner = Scope(scope.binding, both, scope.parent, scope.ctes, "join")
    condition = bind_expression(node, inner)
    scope.binding.influence(condition.sources, INFLUENCE_JOIN)
    if condition.flags & HAS_GENERATOR:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a generator cannot stand in a join condition",
            node,
            "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        )
    elif condition.type not in (t.BOOLEAN, t.UNKNOWN):
        scope.binding.error(
            Code.TYPE_ERROR,
            f"the join condition is `{condition.type}`, not a boolean",
            node,
            "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
        )
    elif condition.flags & (HAS_AGGREGATE | HAS_WINDOW):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a join condition cannot hold an aggregate or window function",
            node,
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
        )
    return condition


def _merge_named(
    left: Relation, right: Relation, join: exp.Join, side: str, kind: str, scope: Scope
) -> Relation:
    """USING and NATURAL: each shared name comes out once, first; both originals stay reachable."""
    names = _shared_names(left, right, join)
    pairs: list[tuple[Column, Column]] = []
    for name in names:
        pair = _key_pair(name, left, right, join, scope)
        if pair is not None:
            pairs.append(pair)
    known = left.known and right.known
    if kind in ("SEMI", "ANTI"):
        ours = [a for a, _ in pairs]
        shown = {column.ident for column in ours}
        rest = [column for column in left.columns if column.ident not in shown]
        return Relation([*ours, *rest], left.known)
    merged = [_merged_key(a, b, side, scope) for a, b in pairs]
    keys = {column.ident for pair in pairs for column in pair}
    rest = [
        _hidden(column) if column.ident in keys else column
        for column in (*_left_columns(left, side), *_right_columns(right, side))
    ]
    return Relation([*merged, *rest], known)


def _shared_names(left: Relation, right: Relation, join: exp.Join) -> list[str]:
    using = join.args.get("using")
    if using:
        return [identifier.name.lower() for identifier in using]
    # NATURAL pairs names letter by letter, and a name as often as both sides have it.
    theirs = Counter(column.name for column in right.visible())
    names = []
    for column in left.visible():
        if theirs[column.name]:
            theirs[column.name] -= 1
            names.append(column.key)
    return names


def _key_pair(
    name: str, left: Relation, right: Relation, join: exp.Join, scope: Scope
) -> tuple[Column, Column] | None:
    found: list[Column] = []
    for relation, which in ((left, "left"), (right, "right")):
        # Of several columns of the name Spark takes the first.
        columns, _ = relation.find((name,))
        if columns:
            found.append(columns[0])
            continue
        if not relation.known:
            return None
        place = next(
            (i for i in join.args.get("using") or [] if i.name.lower() == name), join.args["this"]
        )
        scope.binding.error(
            Code.UNKNOWN_COLUMN,
            f"the {which} side of the join has no column `{name}`",
            place,
            "UNRESOLVED_USING_COLUMN_FOR_JOIN",
        )
        return None
    a, b = found
    if scope.binding.names is not None:
        written = (i for i in join.args.get("using") or [] if i.name.lower() == name)
        scope.binding.names.use_key(next(written, None), a, b, scope.binding)
    scope.binding.influence(a.sources | b.sources, INFLUENCE_JOIN)
    if t.UNKNOWN not in (a.type, b.type) and widest_type(a.type, b.type) is None:
        scope.binding.error(
            Code.INCOMPARABLE_TYPES,
            f"`{name}` is `{a.type}` on the left and `{b.type}` on the right",
            join,
            "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
            help="cast one side before joining",
        )
    elif a.type.kind == "map" or not is_orderable(a.type):
        scope.binding.error(
            Code.INCOMPARABLE_TYPES,
            f"values of type `{a.type}` cannot be compared, so `{name}` is no key of a join",
            join,
            "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
        )
    elif is_unsafe_comparison(a.type, b.type):
        scope.binding.warn(
            Code.IMPLICIT_JOIN_CAST,
            f"join keys `{name}` of types `{a.type}` and `{b.type}` are comparable only through"
            " an implicit cast",
            join,
            labels=origin_labels(scope.binding, (a, b)),
            help="cast one side before joining, or fix the type where the key is made",
        )
    return a, b


def _merged_key(a: Column, b: Column, side: str, scope: Scope) -> Column:
    if side == "RIGHT":
        return b
    if side == "FULL":
        kind = widest_type(a.type, b.type) or a.type
        sources = merge_sources((a, b), DIRECT)
        return Column(a.name or "", kind, True, sources, scope.binding.fresh())
    return a


def _hidden(column: Column) -> Column:
    twin = column.copy()
    twin.hidden = True
    return twin
