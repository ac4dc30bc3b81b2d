"""What a query that groups may name: its keys, aggregates, and nothing else.

Under OVER the function itself is no aggregate, but what is inside it may be one. Of a query with
grouping sets such a function reads the values from before the sets made some of them null, and
those are no keys.
"""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.group_by import Grouping, all_span
from rocky.language.binder.clauses.keys import is_star
from rocky.language.binder.expressions.calls import function_name, kind_of_call
from rocky.language.binder.scopes import Scope, label_at
from rocky.language.binder.shapes import shape_of
from rocky.language.datatypes import types as t


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
            offender = ungrouped(item.node, shapes, scope, aggregates=True)
        if offender is not None:
            name = item.column.name if is_star(item.node) else None
            _report(offender, name, grouping, select, scope)
            return


def _report(
    node: Any, name: str | None, grouping: Grouping | None, select: exp.Select, scope: Scope
) -> None:
    if name is None:
        name = ".".join(part.name for part in node.parts) if isinstance(node, exp.Column) else "*"
    if grouping is not None and grouping.all and not grouping.keys:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"GROUP BY ALL cannot tell how to group `{name}`, which stands beside an aggregate",
            node,
            "UNRESOLVED_ALL_IN_GROUP_BY",
            span=all_span(scope),
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


def ungrouped(node: Any, shapes: set[Any], scope: Scope, *, aggregates: bool) -> Any:
    """The first offending column below `node`, or None."""
    kind = node.__class__
    if kind is exp.Star:
        columns = scope.relation.visible()
        return node if any(("column", each.ident) not in shapes for each in columns) else None
    if shapes and shape_of(node, scope) in shapes:
        return None
    if kind is exp.Column:
        return node if _is_own_column(node, shapes, scope) else None
    if kind in (exp.Subquery, exp.Exists, exp.Select, exp.Lambda):
        return None
    if kind is exp.Anonymous and aggregates and _may_aggregate(node):
        return None
    if kind is exp.Anonymous and function_name(node).lower() == "window_time":
        # It is computed before rows are grouped, so the window being a key does not help.
        return node
    if (kind in (exp.Filter, exp.WithinGroup) and aggregates) or (kind is exp.Any and aggregates):
        return None
    if kind is exp.Window:
        return _ungrouped_window(node, shapes, scope)
    for child in node.iter_expressions():
        offender = ungrouped(child, shapes, scope, aggregates=aggregates)
        if offender is not None:
            return offender
    return None


def _may_aggregate(node: Any) -> bool:
    """Whether a call aggregates; one nobody knows is reported as that, and may well do so."""
    return kind_of_call(node) in ("aggregate", "")


def _ungrouped_window(node: Any, shapes: set[Any], scope: Scope) -> Any:
    """The first offending column of a window function and its OVER clause."""
    call = node.args["this"]
    inside: list[Any] = []
    while call.__class__ in (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup):
        if call.__class__ is exp.WithinGroup:
            inside.append(call.args["expression"])
        call = call.args["this"]
    inside += call.iter_expressions()
    sets = scope.grouping is not None and scope.grouping.has_sets
    if sets and (call.__class__ is exp.Any or kind_of_call(call) == "aggregate"):
        for child in inside:
            if child.__class__ is exp.Star:
                continue
            offender = ungrouped(child, set(), scope, aggregates=True)
            if offender is not None:
                return offender
        inside = []
    named = (
        (scope.windows or {}).get(node.args["alias"].name.lower())
        if node.args.get("alias")
        else None
    )
    for holder in (node, named) if named is not None else (node,):
        inside += holder.args.get("partition_by") or []
        inside += [holder.args["order"]] if holder.args.get("order") else []
    for child in inside:
        if child.__class__ is exp.Star:
            continue
        offender = ungrouped(child, shapes, scope, aggregates=True)
        if offender is not None:
            return offender
    return None


def _is_own_column(node: exp.Column, shapes: set[Any], scope: Scope) -> bool:
    """Whether a reference is to this query's own relation, and not grouped by a wider name."""
    if node.args["this"].__class__ is exp.Star:
        return bool(scope.relation.columns)
    parts = tuple(part.name.lower() for part in node.parts)
    columns, used = scope.relation.find(parts)
    if not columns and scope.time_window is not None and scope.fallback is not None:
        columns, used = scope.fallback.find(parts)
    if len(columns) != 1:
        return False
    if used < len(parts) and ("column", columns[0].ident) in shapes:
        return False
    return ("column", columns[0].ident) not in shapes
