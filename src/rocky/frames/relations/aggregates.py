"""Groups: `groupBy`, `rollup`, `cube`, grouping sets and `pivot`."""

from collections.abc import Callable
from typing import Any

from rocky.diagnostics import Code
from rocky.frames.expressions import expression
from rocky.frames.fragments import Fragment, joined, operand, sql
from rocky.frames.layers import Layer
from rocky.frames.literals import literal_sql
from rocky.frames.lowering import Lowering
from rocky.frames.relations.select_items import items_of
from rocky.frames.scope import Scope, over
from rocky.frames.select_list import Item
from rocky.frames.sites import Site, site_of
from rocky.language.binder.clauses.pivots import POSITIONED

_MOST_PIVOT_VALUES = 500


def aggregate(
    message: Any, lowering: Lowering, lower: Callable[[Any], Layer], site: Site | None
) -> Layer:
    """A frame of groups: the keys, then what is worked out for each."""
    below = lower(message.input)
    scope = over(lowering, below)
    keys = items_of(message.grouping_expressions, scope)
    if message.group_type == message.GROUP_TYPE_PIVOT:
        return _pivot(message, scope, keys, site)
    values = items_of(message.aggregate_expressions, scope)
    grouped = _grouping(message, scope, keys)
    if not keys and not values:
        return lowering.unknown_rows("a group without columns", site, below)
    items = [*keys, *values]
    if message.group_type != message.GROUP_TYPE_GROUPBY:
        items = [each._replace(origin=None) for each in keys] + values
    return lowering.select((below,), items, sql(*grouped, site=site), lasting=False)


def _grouping(message: Any, scope: Scope, keys: list[Item]) -> list[str | Fragment]:
    if not keys and not message.grouping_sets:
        return []
    listed = joined(", ", [each.fragment for each in keys])
    if message.group_type == message.GROUP_TYPE_ROLLUP:
        return [" GROUP BY ROLLUP(", listed, ")"]
    if message.group_type == message.GROUP_TYPE_CUBE:
        return [" GROUP BY CUBE(", listed, ")"]
    if message.group_type == message.GROUP_TYPE_GROUPING_SETS:
        sets = [
            sql("(", joined(", ", [expression(each, scope) for each in one.grouping_set]), ")")
            for one in message.grouping_sets
        ]
        return [" GROUP BY GROUPING SETS (", joined(", ", sets), ")"]
    return [" GROUP BY ", listed]


def _pivot(message: Any, scope: Scope, keys: list[Item], site: Site | None) -> Layer:
    """One column for each value and aggregate.

    A group in which a value is missing has null there, or what the aggregate is of no rows: Spark
    decides by the types of the aggregates.
    """
    lowering, below = scope.lowering, scope.inputs[0][0]
    values = message.pivot.values
    if not values:
        reason = "`pivot` without values: Spark runs a job to find them; list them"
        return lowering.unknown_rows(reason, site, below)
    if len(values) > _MOST_PIVOT_VALUES:
        return lowering.unknown_rows("a `pivot` of very many values", site, below)
    for each in message.aggregate_expressions:
        if _has_star(each):
            text = "`*` cannot be counted in a `pivot`"
            scope.mistake(
                Code.INVALID_CLAUSE,
                text,
                site_of(each) or site,
                "INVALID_USAGE_OF_STAR_OR_REGEX",
                "count `F.lit(1)`",
            )
            return lowering.unknown_rows("a star in a `pivot`", site, below)
    column = expression(message.pivot.col, scope)
    wanted = items_of(message.aggregate_expressions, scope)
    names, kinds = _printed(wanted, scope)
    positioned = all(each in POSITIONED for each in kinds)
    items = list(keys)
    for value in values:
        literal = literal_sql(value)
        for item, name in zip(wanted, names, strict=True):
            shown = _shown(value)
            here = sql(column, f" <=> {literal}")
            made = sql(operand(item.fragment), " FILTER (WHERE ", here, ")", site=site)
            if positioned:
                made = sql("CASE WHEN count_if(", here, ") > 0 THEN ", made, " END", site=site)
            items.append(Item(made, shown if len(wanted) == 1 else f"{shown}_{name}"))
    grouped = _grouping(message, scope, keys)
    return lowering.select((below,), items, sql(*grouped, site=site), lasting=False)


def _has_star(message: Any) -> bool:
    kind = message.WhichOneof("expr_type")
    if kind == "alias":
        return _has_star(message.alias.expr)
    if kind == "unresolved_function":
        return any(_has_star(each) for each in message.unresolved_function.arguments)
    return kind == "unresolved_star"


def _printed(items: list[Item], scope: Scope) -> tuple[list[str], list[str]]:
    """The names of aggregates, as Spark prints those that have none, and their kinds of types."""
    bound = scope.lowering.bind(
        sql("SELECT ", joined(", ", [each.fragment for each in items]), scope.source).text
    )
    printed = [each.name or "" for each in bound.columns]
    printed += [""] * (len(items) - len(printed))
    names = [each.name or name for each, name in zip(items, printed, strict=False)]
    return names, [each.type.kind for each in bound.columns]


def _shown(value: Any) -> str:
    kind = value.WhichOneof("literal_type")
    if kind == "null":
        return "null"
    if kind == "boolean":
        return "true" if value.boolean else "false"
    if kind in ("string", "integer", "long", "short", "byte"):
        return str(getattr(value, kind))
    return literal_sql(value).rstrip("DFBLYS").removeprefix("DATE ").strip("'")
