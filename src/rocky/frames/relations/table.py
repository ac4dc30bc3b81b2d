"""The list of relations: which rule lowers which kind, and what the others are told."""

from collections.abc import Callable
from typing import Any, Final

from rocky.frames.layers import Layer
from rocky.frames.literals import NoSql
from rocky.frames.lowering import Lowering, apart
from rocky.frames.relations import (
    aggregates,
    code_rows,
    joins,
    missing_values,
    projections,
    row_sets,
    sources,
)
from rocky.frames.sites import Site, site_of

Rule = Callable[[Any, Lowering, Callable[[Any], Layer], Site | None], Layer]

_RULES: Final[dict[str | None, Rule]] = {
    "read": sources.read,
    "sql": sources.query,
    "local_relation": sources.local,
    "range": sources.span,
    "unresolved_table_valued_function": sources.table_function,
    "map_partitions": code_rows.mapped,
    "group_map": code_rows.mapped,
    "co_group_map": code_rows.mapped,
    "common_inline_user_defined_table_function": code_rows.table_code,
    "parse": code_rows.parse,
    "describe": code_rows.statistics,
    "summary": code_rows.statistics,
    "freq_items": code_rows.frequent_items,
    "project": projections.project,
    "filter": projections.filter_rows,
    "sort": projections.sort,
    "with_columns": projections.with_columns,
    "drop": projections.drop,
    "with_columns_renamed": projections.rename,
    "to_df": projections.rename_all,
    "to_schema": projections.to_schema,
    "subquery_alias": projections.alias,
    "join": joins.join,
    "lateral_join": joins.lateral,
    "as_of_join": joins.as_of,
    "aggregate": aggregates.aggregate,
    "set_op": row_sets.set_operation,
    "limit": row_sets.limit,
    "tail": row_sets.limit,
    "offset": row_sets.offset,
    "sample": row_sets.sample,
    "sample_by": row_sets.sample,
    "deduplicate": row_sets.distinct,
    "hint": row_sets.same_rows,
    "repartition": row_sets.same_rows,
    "repartition_by_expression": row_sets.same_rows,
    "collect_metrics": row_sets.same_rows,
    "unpivot": row_sets.unpivot,
    "fill_na": missing_values.fill,
    "drop_na": missing_values.drop_rows,
    "replace": missing_values.replace,
}

_KINDS: Final = {
    "WithWatermark": "streams: `withWatermark`",
    "Transpose": "`transpose`, whose columns are values",
    "StatCrosstab": "`crosstab`, whose columns are values",
    "CachedRemoteRelation": "a result that Spark keeps",
}


def lower(message: Any, lowering: Lowering) -> Layer:
    """The layer of a relation. Each plan id is lowered once, and once more in each subquery."""
    plan_id = message.common.plan_id
    known = lowering.by_plan.get(plan_id)
    if known is not None:
        return known
    lowering.lower = lower
    kind = message.WhichOneof("rel_type")
    site = site_of(message)
    if kind == "with_relations":
        layer = _with_relations(message.with_relations, lowering)
    else:
        rule = _RULES.get(kind, _unsupported)
        try:
            layer = rule(getattr(message, kind), lowering, lambda each: lower(each, lowering), site)
        except NoSql as missing:
            layer = lowering.unknown_rows(str(missing), site)
    layer = apart(lowering, layer)
    layer.plan_ids.add(plan_id)
    lowering.by_plan[plan_id] = layer
    return layer


def _unsupported(
    message: Any, lowering: Lowering, below: Callable[[Any], Layer], site: Site | None
) -> Layer:
    kind = _KINDS.get(message.DESCRIPTOR.name, message.DESCRIPTOR.name)
    raise NoSql(kind)


def _with_relations(message: Any, lowering: Lowering) -> Layer:
    """A relation with others that its expressions, or its SQL, refer to."""
    for each in message.references:
        if each.WhichOneof("rel_type") == "subquery_alias":
            below = lower(each.subquery_alias.input, lowering)
            lowering.views[each.subquery_alias.alias.lower()] = below
        else:
            lowering.references[each.common.plan_id] = each
    return lower(message.root, lowering)
