"""GROUP BY in all its forms: keys, grouping sets, and ALL."""

from itertools import pairwise
from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.clauses.keys import bind_key
from rocky.language.binder.expr import (
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_LATERAL_ALIAS,
    HAS_WINDOW,
    Column,
    Expr,
)
from rocky.language.binder.expressions.calls import kind_of_call
from rocky.language.binder.names.printer import bind_quietly
from rocky.language.binder.scopes import Relation, Scope
from rocky.language.binder.shapes import shape_of
from rocky.language.datatypes.operators import group_refusal


class Grouping:
    """The keys of a GROUP BY and which of them a grouping set may leave out."""

    __slots__ = (
        "_left_out",
        "_null_shapes",
        "aliased",
        "all",
        "has_sets",
        "keys",
        "nulled",
        "order",
        "shapes",
        "window",
        "written",
    )

    def __init__(self) -> None:
        self.keys: list[tuple[Any, Expr]] = []
        self.shapes: set[Any] = set()
        # The shapes of the keys in their order, and of those that no alias stands for: of these
        # `grouping_id` and `grouping` speak.
        self.order: list[Any] = []
        self.written: set[Any] = set()
        self.aliased: set[int] = set()
        self.nulled: dict[int, Column] | None = None
        self._null_shapes: set[Any] = set()
        self._left_out: list[tuple[Any, Expr]] = []
        # The column a time window among the keys is computed into.
        self.window: Column | None = None
        self.all = False
        self.has_sets = False

    def add(self, node: Any, expr: Expr, scope: Scope) -> None:
        self.keys.append((node, expr))
        shape = shape_of(node, scope)
        if shape not in self.shapes:
            self.order.append(shape)
        self.shapes.add(shape)
        if id(node) not in self.aliased:
            self.written.add(shape)

    def leave_out(self, nodes: list[tuple[Any, Expr]], scope: Scope) -> None:
        """Note keys that are null in some grouping set."""
        self._left_out += nodes
        for node, expr in nodes:
            if isinstance(expr, Column):
                if self.nulled is None:
                    self.nulled = {}
                self.nulled[expr.ident] = expr.nulled()
            else:
                self._null_shapes.add(shape_of(node, scope))

    def renew(self, window: Column, scope: Scope) -> None:
        """Look at the keys anew, now that a time window among them is a column."""
        self.window = window
        keys, self.keys, self.order = self.keys, [], []
        self.shapes.clear()
        self.written.clear()
        for node, expr in keys:
            if node.__class__ is exp.Star and isinstance(expr, Column):
                self.keys.append((node, expr))
                self.shapes.add(("column", expr.ident))
            else:
                self.add(node, expr, scope)
        self._null_shapes = {shape_of(node, scope) for node, _ in self._left_out}
        if ("column", window.ident) in self._null_shapes:
            self.nulled = {**(self.nulled or {}), window.ident: window.nulled()}

    def visible(self, scope: Scope) -> Relation:
        """The columns of FROM that are grouped."""
        idents = {shape[1] for shape in self.shapes if shape[0] == "column"}
        columns = [*scope.relation.columns, *([self.window] if self.window is not None else [])]
        return Relation([c for c in columns if c.ident in idents], scope.relation.known)

    def has_expressions(self) -> bool:
        """Whether a key is more than a column."""
        return any(shape[0] != "column" for shape in self.shapes)

    def makes_null(self, node: Any, scope: Scope) -> bool:
        return bool(self._null_shapes) and shape_of(node, scope) in self._null_shapes


def bind_grouping(group: exp.Group, select: exp.Select, scope: Scope) -> Grouping:
    """The grouping of a query."""
    grouping = Grouping()
    args = group.args
    every = _every_item(group, select, scope)
    if every is None:
        _group_by_all(select, grouping, scope)
        return grouping
    grouping.aliased = _aliased_items(group, select, scope)
    inner = scope.within("group")
    plain: list[tuple[Any, Expr]] = []
    sets: list[list[list[tuple[Any, Expr]]]] = []
    for item in every:
        _collect(item, plain, sets, select, inner)
    if not every and not any(args.get(each) for each in ("rollup", "cube", "grouping_sets")):
        scope.binding.error(Code.SYNTAX_ERROR, "GROUP BY needs a key", select, "PARSE_SYNTAX_ERROR")
    trailing = [*(args.get("rollup") or []), *(args.get("cube") or [])]
    for item in trailing:
        if item.args.get("expressions"):
            _collect(item, plain, sets, select, inner)
        elif sets or not plain:
            # `ROLLUP ()` and `GROUP BY ROLLUP (a), b WITH ROLLUP` are read as a call.
            _no_function(item, scope)
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
    for node, expr in keys:
        _check_key(node, expr, grouping, scope)
    grouping.leave_out(optional, scope)


def _check_key(node: Any, expr: Expr, grouping: Grouping, scope: Scope) -> None:
    listed = node.find_ancestor(exp.Group) is None
    place = all_span(scope) if grouping.all else None
    if listed and expr.flags & HAS_LATERAL_ALIAS and not expr.flags & HAS_WINDOW:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a grouping key cannot be an expression over another alias of the list",
            node,
            "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_GROUP_BY",
            help="write the expression out, or compute it in a CTE first",
            span=place,
        )
    elif expr.flags & HAS_AGGREGATE:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "an aggregate function cannot be a grouping key",
            node,
            "GROUP_BY_AGGREGATE",
        )
    elif not listed and node.find(exp.Star) is not None:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "`*` cannot stand in a grouping key",
            node,
            "INVALID_USAGE_OF_STAR_OR_REGEX",
        )
    elif expr.flags & HAS_GENERATOR and grouping.has_sets:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a generator cannot be a key of grouping sets",
            node,
            "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        )
    elif expr.flags & (HAS_WINDOW | HAS_GENERATOR):
        # As an item of the list it is looked at as one first.
        stray = listed and any(
            shape_of(column, scope) not in grouping.shapes for column in node.find_all(exp.Column)
        )
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a window function or generator cannot be a grouping key",
            node,
            "MISSING_AGGREGATION"
            if stray and expr.flags & HAS_WINDOW
            else "UNSUPPORTED_EXPR_FOR_OPERATOR",
            span=place,
        )
    else:
        refusal = group_refusal(expr.type)
        if refusal is not None:
            scope.binding.error(
                Code.INVALID_AGGREGATION, refusal.message, node, refusal.condition, span=place
            )


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
        if not parts:
            _no_function(item, scope)
        sets.append(_rollup(parts, cube=kind is exp.Cube))
    elif kind is exp.GroupingSets:
        sets.append(_grouping_sets(item, select, scope))
    elif kind is exp.Tuple and not item.args.get("expressions"):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "GROUP BY needs a key",
            item,
            "PARSE_SYNTAX_ERROR",
            help="leave GROUP BY out to aggregate all rows",
        )
    else:
        plain.append(bind_key(item, select, scope))


def _no_function(item: Any, scope: Scope) -> None:
    word = item.__class__.__name__.lower()
    scope.binding.error(
        Code.UNKNOWN_FUNCTION,
        f"no function `{word}`: it takes the keys of GROUP BY in parentheses",
        item,
        "UNRESOLVED_ROUTINE",
    )


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


def _every_item(group: exp.Group, select: exp.Select, scope: Scope) -> list[Any] | None:
    """The items of GROUP BY; None for `GROUP BY ALL`, where nothing is called `all`."""
    items = list(group.args.get("expressions") or [])
    if group.args.get("all"):
        items.insert(0, _all_as_name(scope))
    alone = len(items) == 1 and not any(
        group.args.get(each) for each in ("rollup", "cube", "grouping_sets")
    )
    node = items[0] if items else None
    while node.__class__ is exp.Paren:
        node = node.args["this"]
    if not alone or node.__class__ is not exp.Column or len(node.parts) > 1:
        return items
    if node.name.lower() != "all" or scope.relation.find(("all",))[0]:
        return items
    named = any(
        item.__class__ is exp.Alias and item.args["alias"].name.lower() == "all"
        for item in select.args.get("expressions") or []
    )
    return items if named else None


def _aliased_items(group: exp.Group, select: exp.Select, scope: Scope) -> set[int]:
    """The items of the list that a key stands for by its alias, by the identity of their node."""
    names = {
        column.name.lower()
        for column in group.find_all(exp.Column)
        if len(column.parts) == 1 and not scope.relation.find((column.name.lower(),))[0]
    }
    return {
        id(item.args["this"])
        for item in (select.args.get("expressions") or [] if names else [])
        if item.__class__ is exp.Alias and item.args["alias"].name.lower() in names
    }


def _all_as_name(scope: Scope) -> exp.Column:
    """The word ALL as the column it may be."""
    word = exp.Identifier(this="all")
    span = all_span(scope)
    if span is not None:
        word.meta.update(start=span.end - len("all"), end=span.end - 1)
    column = exp.Column(this=word)
    exp.Group(expressions=[column])
    return column


def all_span(scope: Scope) -> Span | None:
    """Where `GROUP BY ALL` stands."""
    for token, following in pairwise(scope.binding.tokens):
        if token.text.upper() == "GROUP BY" and following.text.upper() == "ALL":
            return Span(token.start, following.end + 1)
    return None


def holds_aggregate(node: Any) -> bool:
    """Whether an aggregate function is called below a node, under OVER or not."""
    kind = node.__class__
    if kind in (exp.Subquery, exp.Exists, exp.Select):
        return False
    if kind is exp.Any or (kind is exp.Anonymous and kind_of_call(node) == "aggregate"):
        return True
    return any(holds_aggregate(child) for child in node.iter_expressions())


def _group_by_all(select: exp.Select, grouping: Grouping, scope: Scope) -> None:
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
        if not holds_aggregate(node):
            grouping.add(node, expr, inner)
    for node, expr in grouping.keys:
        if node.__class__ is not exp.Star and not expr.flags & HAS_GENERATOR:
            _check_key(node, expr, grouping, inner)
