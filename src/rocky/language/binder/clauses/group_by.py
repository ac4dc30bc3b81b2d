"""GROUP BY in all its forms, and the rule that what is not aggregated must be grouped."""

from itertools import pairwise
from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.clauses.keys import bind_key, is_star
from rocky.language.binder.expr import HAS_AGGREGATE, HAS_GENERATOR, HAS_WINDOW, Column, Expr
from rocky.language.binder.expressions.calls import call_kind, function_name
from rocky.language.binder.names.printer import bind_quietly
from rocky.language.binder.scopes import Relation, Scope, label_at
from rocky.language.binder.shapes import shape_of
from rocky.language.datatypes import types as t
from rocky.language.datatypes.operators import group_refusal


class Grouping:
    """The keys of a GROUP BY and which of them a grouping set may leave out."""

    __slots__ = ("_null_shapes", "all", "has_sets", "keys", "nulled", "shapes")

    def __init__(self) -> None:
        self.keys: list[tuple[Any, Expr]] = []
        self.shapes: set[Any] = set()
        self.nulled: dict[int, Column] | None = None
        self._null_shapes: set[Any] = set()
        self.all = False
        self.has_sets = False

    def add(self, node: Any, expr: Expr, scope: Scope) -> None:
        self.keys.append((node, expr))
        self.shapes.add(shape_of(node, scope))

    def leave_out(self, nodes: list[tuple[Any, Expr]], scope: Scope) -> None:
        """Note keys that are null in some grouping set."""
        for node, expr in nodes:
            if isinstance(expr, Column):
                if self.nulled is None:
                    self.nulled = {}
                self.nulled[expr.ident] = expr.nulled()
            else:
                self._null_shapes.add(shape_of(node, scope))

    def visible(self, scope: Scope) -> Relation:
        """The columns of FROM that are grouped; all of them when a key is an expression."""
        if any(not isinstance(expr, Column) and not expr.foldable for _, expr in self.keys):
            return scope.relation
        idents = {expr.ident for _, expr in self.keys if isinstance(expr, Column)}
        return Relation(
            [c for c in scope.relation.columns if c.ident in idents], scope.relation.known
        )

    def makes_null(self, node: Any, scope: Scope) -> bool:
        return bool(self._null_shapes) and shape_of(node, scope) in self._null_shapes


def bind_grouping(group: exp.Group, select: exp.Select, scope: Scope) -> Grouping:
    """The grouping of a query."""
    grouping = Grouping()
    args = group.args
    if args.get("all"):
        _group_by_all(group, select, grouping, scope)
        return grouping
    inner = scope.within("group")
    plain: list[tuple[Any, Expr]] = []
    sets: list[list[list[tuple[Any, Expr]]]] = []
    for item in args.get("expressions") or []:
        _collect(item, plain, sets, select, inner)
    trailing = [*(args.get("rollup") or []), *(args.get("cube") or [])]
    for item in trailing:
        if item.args.get("expressions"):
            _collect(item, plain, sets, select, inner)
        else:
            # `GROUP BY a, b WITH ROLLUP`
            sets.append(_rollup([[key] for key in plain], cube=item.__class__ is exp.Cube))
            plain = []
    if args.get("grouping_sets"):
        # `GROUP BY a, b GROUPING SETS (...)`: the list before only declares the keys.
        declared, plain = plain, []
        for item in args["grouping_sets"]:
            _collect(item, plain, sets, select, inner)
        for node, expr in declared:
            grouping.add(node, expr, scope)
        listed = {shape_of(node, scope) for family in sets for each in family for node, _ in each}
        grouping.leave_out(
            [key for key in declared if shape_of(key[0], scope) not in listed], scope
        )
    _fill(grouping, plain, sets, scope)
    return grouping


def _fill(
    grouping: Grouping,
    plain: list[tuple[Any, Expr]],
    sets: list[list[list[tuple[Any, Expr]]]],
    scope: Scope,
) -> None:
    grouping.has_sets = grouping.has_sets or bool(sets)
    keys = list(plain)
    optional: list[tuple[Any, Expr]] = []
    for family in sets:
        members = [key for each in family for key in each]
        keys += members
        everywhere = {shape_of(node, scope) for node, _ in plain}
        for node, expr in members:
            shape = shape_of(node, scope)
            if shape in everywhere:
                continue
            if any(all(shape_of(n, scope) != shape for n, _ in each) for each in family):
                optional.append((node, expr))
    for node, expr in keys:
        grouping.add(node, expr, scope)
        _check_key(node, expr, scope)
    grouping.leave_out(optional, scope)


def _check_key(node: Any, expr: Expr, scope: Scope) -> None:
    if expr.flags & HAS_AGGREGATE:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "an aggregate function cannot be a grouping key",
            node,
            "GROUP_BY_AGGREGATE",
        )
    elif expr.flags & (HAS_WINDOW | HAS_GENERATOR):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a window function or generator cannot be a grouping key",
            node,
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
        )
    else:
        refusal = group_refusal(expr.type)
        if refusal is not None:
            scope.binding.error(Code.INVALID_AGGREGATION, refusal.message, node, refusal.condition)


def _collect(
    item: Any,
    plain: list[tuple[Any, Expr]],
    sets: list[list[list[tuple[Any, Expr]]]],
    select: exp.Select,
    scope: Scope,
) -> None:
    """Sort one item of GROUP BY into plain keys and families of grouping sets."""
    kind = item.__class__
    if kind is exp.Rollup or kind is exp.Cube:
        parts = [_members(each, select, scope) for each in item.args.get("expressions") or []]
        sets.append(_rollup(parts, cube=kind is exp.Cube))
    elif kind is exp.GroupingSets:
        sets.append(_grouping_sets(item, select, scope))
    elif kind is exp.Tuple:
        if not item.args.get("expressions"):
            scope.binding.error(
                Code.SYNTAX_ERROR,
                "GROUP BY needs a key",
                item,
                "PARSE_SYNTAX_ERROR",
                help="leave GROUP BY out to aggregate all rows",
            )
        plain += _members(item, select, scope)
    else:
        plain.append(bind_key(item, select, scope))


def _members(node: Any, select: exp.Select, scope: Scope) -> list[tuple[Any, Expr]]:
    if node.__class__ is exp.Tuple:
        return [bind_key(each, select, scope) for each in node.args.get("expressions") or []]
    return [bind_key(node, select, scope)]


def _rollup(parts: list[list[tuple[Any, Expr]]], *, cube: bool) -> list[list[tuple[Any, Expr]]]:
    """The grouping sets of a rollup or cube; for nullability two of a cube's sets are enough."""
    if cube:
        # Every part is missing from some set, and present in the full one.
        return [[key for part in parts for key in part], []]
    return [[key for part in parts[:size] for key in part] for size in range(len(parts), -1, -1)]


def _grouping_sets(item: Any, select: exp.Select, scope: Scope) -> list[list[tuple[Any, Expr]]]:
    found: list[list[tuple[Any, Expr]]] = []
    for each in item.args.get("expressions") or []:
        if each.__class__ is exp.Rollup or each.__class__ is exp.Cube:
            parts = [_members(part, select, scope) for part in each.args.get("expressions") or []]
            found += _rollup(parts, cube=each.__class__ is exp.Cube)
        elif each.__class__ is exp.GroupingSets:
            found += _grouping_sets(each, select, scope)
        elif each.__class__ is exp.Paren:
            found.append([bind_key(each.args["this"], select, scope)])
        else:
            found.append(_members(each, select, scope))
    return found


def _group_by_all(group: exp.Group, select: exp.Select, grouping: Grouping, scope: Scope) -> None:
    """Every select item without an aggregate is a key."""
    grouping.all = True
    inner = scope.within("select")
    inner.aliases = {}
    for item in select.args.get("expressions") or []:
        node = item.args["this"] if item.__class__ is exp.Alias else item
        if node.__class__ is exp.Star:
            for column in scope.relation.visible():
                grouping.keys.append((node, column))
                grouping.shapes.add(("column", column.ident))
            continue
        expr = bind_quietly(node, inner)
        if item.__class__ is exp.Alias:
            inner.aliases.setdefault(item.args["alias"].name.lower(), []).append(expr)
        if not expr.flags & HAS_AGGREGATE:
            grouping.add(node, expr, inner)
    if group.args.get("expressions"):
        scope.binding.give_up("GROUP BY ALL with keys")


def check_grouping(
    items: list[Any], grouping: Grouping | None, select: exp.Select, scope: Scope
) -> None:
    """Report the first column of each select item that is neither grouped nor aggregated."""
    if grouping is not None and any(expr.type is t.UNKNOWN for _, expr in grouping.keys):
        # A key that is already reported may be the one a select item misses.
        return
    shapes = grouping.shapes if grouping is not None else set()
    for item in items:
        if is_star(item.node):
            grouped = ("column", item.column.ident) in shapes
            offender = None if grouped else item.node
        else:
            offender = _ungrouped(item.node, shapes, scope, aggregates=True)
        if offender is not None:
            name = item.column.name if is_star(item.node) else None
            _report(offender, name, grouping, select, scope)
            return


def _report(
    node: Any, name: str | None, grouping: Grouping | None, select: exp.Select, scope: Scope
) -> None:
    if name is None:
        name = ".".join(part.name for part in node.parts) if isinstance(node, exp.Column) else "*"
    if grouping is not None and grouping.all:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"GROUP BY ALL cannot tell how to group `{name}`, which stands beside an aggregate",
            node,
            "UNRESOLVED_ALL_IN_GROUP_BY",
            span=_group_by_all_span(scope),
            labels=(label_at(scope.binding, node, "neither grouped nor aggregated"),),
            help="name the grouping keys",
        )
        return
    if grouping is None:
        condition = "MISSING_GROUP_BY"
        message = f"`{name}` stands beside an aggregate, and there is no GROUP BY"
    else:
        condition = "MISSING_AGGREGATION"
        message = f"`{name}` is neither grouped nor aggregated"
    scope.binding.error(
        Code.INVALID_AGGREGATION,
        message,
        node,
        condition,
        help=f"add `{name}` to GROUP BY, or aggregate it, for example with `any_value({name})`",
    )


def _group_by_all_span(scope: Scope) -> Span | None:
    tokens = scope.binding.tokens
    for token, following in pairwise(tokens):
        if token.text.upper() == "GROUP BY" and following.text.upper() == "ALL":
            return Span(token.start, following.end + 1)
    return None


def _ungrouped(node: Any, shapes: set[Any], scope: Scope, *, aggregates: bool) -> Any:
    """The first offending column below `node`, or None."""
    kind = node.__class__
    if kind is exp.Star and not shapes:
        return node if scope.relation.columns else None
    if shapes and shape_of(node, scope) in shapes:
        return None
    if kind is exp.Column:
        return node if _is_own_column(node, shapes, scope) else None
    if kind in (exp.Subquery, exp.Exists, exp.Select, exp.Lambda):
        return None
    if kind is exp.Anonymous and aggregates and _may_aggregate(node):
        return None
    if (kind in (exp.Filter, exp.WithinGroup) and aggregates) or (kind is exp.Any and aggregates):
        return None
    if kind is exp.Window:
        return _ungrouped_window(node, shapes, scope)
    for child in node.iter_expressions():
        offender = _ungrouped(child, shapes, scope, aggregates=aggregates)
        if offender is not None:
            return offender
    return None


def _may_aggregate(node: Any) -> bool:
    """Whether a call aggregates; one nobody knows is reported as that, and may well do so."""
    return call_kind(function_name(node).lower()) in ("aggregate", "")


def _ungrouped_window(node: Any, shapes: set[Any], scope: Scope) -> Any:
    """Under OVER the function itself is no aggregate; what is inside it may be."""
    call = node.args["this"]
    while call.__class__ in (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup):
        call = call.args["this"]
    inside = [
        *call.iter_expressions(),
        *(node.args.get("partition_by") or []),
        *([node.args["order"]] if node.args.get("order") else []),
    ]
    for child in inside:
        if child.__class__ is exp.Star:
            continue
        offender = _ungrouped(child, shapes, scope, aggregates=True)
        if offender is not None:
            return offender
    return None


def _is_own_column(node: exp.Column, shapes: set[Any], scope: Scope) -> bool:
    """Whether a reference is to this query's own relation, and not grouped by a wider name."""
    if node.args["this"].__class__ is exp.Star:
        return bool(scope.relation.columns)
    parts = tuple(part.name.lower() for part in node.parts)
    columns, used = scope.relation.find(parts)
    if len(columns) != 1:
        return False
    if used < len(parts) and ("column", columns[0].ident) in shapes:
        return False
    return ("column", columns[0].ident) not in shapes
