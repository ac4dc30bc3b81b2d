"""Relations that choose, change and rename the columns of one frame."""

from collections.abc import Callable
from typing import Any

from rocky.diagnostics import Code
from rocky.frames.column_identity import Meaning
from rocky.frames.expressions import bare_expression, sort_order
from rocky.frames.fragments import joined, sql
from rocky.frames.layers import Layer, LayerColumn, find_by_plan, split_attribute, written
from rocky.frames.literals import NoSql, type_of
from rocky.frames.lowering import Finding, Lowering
from rocky.frames.relations.select_items import items_of
from rocky.frames.scope import SIDE_UNSURE, attributes_of, over
from rocky.frames.select_list import Item, passed_on
from rocky.frames.sites import Site
from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import format_type
from rocky.language.names import bare_name
from rocky.language.syntax.expression_texts import ExpressionText, read_expression

Lower = Callable[[Any], Layer]


def project(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`select` and `selectExpr`; without an input, one row of values."""
    if not message.HasField("input"):
        items = items_of(message.expressions, over(lowering))
        body = sql("SELECT ", joined(", ", [_one(each) for each in items]))
        return lowering.query(body, ())
    below = lower(message.input)
    items = items_of(message.expressions, over(lowering, below))
    if not items:
        return lowering.unknown_rows("a `select` without columns", site, below)
    return lowering.select((below,), items)


def _one(item: Item) -> Any:
    return sql(item.fragment, f" AS {written(item.name)}") if item.name else item.fragment


def filter_rows(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`filter` and `where`."""
    below = with_missing(lower(message.input), [message.condition])
    condition = bare_expression(message.condition, over(lowering, below))
    where = sql(" WHERE ", condition, site=site, level=condition.level)
    return lowering.select((below,), passed_on(below), where)


def sort(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`sort`, `orderBy` and `sortWithinPartitions`."""
    below = with_missing(lower(message.input), list(message.order))
    keys = [sort_order(each, over(lowering, below)) for each in message.order]
    word = " ORDER BY " if message.is_global else " SORT BY "
    return lowering.select((below,), passed_on(below), sql(word, joined(", ", keys), site=site))


def with_columns(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`withColumn` and `withColumns`: a column of that name keeps its place."""
    below = lower(message.input)
    scope = over(lowering, below)
    new = {}
    for each in message.aliases:
        value = bare_expression(each.expr, scope)
        new[each.name[0].lower()] = Item(value, each.name[0])
    items = [] if below.known else passed_on(below)
    for item, column in zip(passed_on(below) if below.known else [], below.columns, strict=False):
        replaced = new.get(column.key) if not column.hidden else None
        items.append(replaced or item)
    here = {each.key for each in below.visible}
    items += [item for key, item in new.items() if key not in here]
    return lowering.select((below,), items)


def drop(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`drop`: a name that is not there is no mistake."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("`drop` from a frame of unknown columns", site, below)
    gone = {name.lower() for name in message.column_names}
    places: set[int] = set()
    for each in message.columns:
        kind = each.WhichOneof("expr_type")
        if kind != "unresolved_attribute":
            raise NoSql("`drop` of an expression")
        attribute = each.unresolved_attribute
        parts = split_attribute(attribute.unparsed_identifier)
        if attribute.HasField("plan_id"):
            found = find_by_plan(below, attribute.plan_id, parts[0])
            joins = lowering.self_joins
            meant = joins.look((below,), found.frame, attribute.plan_id, parts[0])
            if meant.meaning is not Meaning.PLAIN:
                # Spark drops the left side's and its client the right side's.
                return lowering.unknown_rows(SIDE_UNSURE, site, below)
            places.update(found.places if meant.place is None else (meant.place[1],))
        elif len(parts) == 1:
            named = below.named(parts[0])
            if len(named) > 1:
                lowering.findings.append(
                    Finding(
                        Code.AMBIGUOUS_COLUMN,
                        f"`{parts[0]}` is the name of {len(named)} columns here",
                        site,
                        f'`drop("{parts[0]}")` drops all of them',
                        "AMBIGUOUS_REFERENCE",
                    )
                )
            gone.add(parts[0].lower())
        else:
            places.update(below.qualified(parts))
    kept = [
        item
        for at, (item, column) in enumerate(zip(passed_on(below), below.columns, strict=True))
        if at not in places and (column.hidden or column.key not in gone)
    ]
    if not any(not each.hidden for each in kept):
        return lowering.unknown_rows("a frame without columns", site, below)
    return lowering.select((below,), kept)


def rename(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`withColumnRenamed` and `withColumnsRenamed`: a name that is not there is no mistake."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("a rename in a frame of unknown columns", site, below)
    pairs = [(each.col_name, each.new_col_name) for each in message.renames]
    pairs = pairs or list(message.rename_columns_map.items())
    names = [each.name for each in below.columns]
    for old, new in pairs:
        names = [new if name.lower() == old.lower() else name for name in names]
    items = [
        item if name == column.name or column.hidden else Item(item.fragment, name)
        for item, name, column in zip(passed_on(below), names, below.columns, strict=True)
    ]
    return lowering.select((below,), items)


def rename_all(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`toDF`: one name for each column."""
    below = lower(message.input)
    items = [each for each in passed_on(below) if not each.hidden]
    names = list(message.column_names)
    if not below.known:
        return lowering.unknown_rows("`toDF` of a frame of unknown columns", site, below)
    if len(names) != len(items):
        message_text = f"`toDF` has {len(names)} names for {len(items)} columns"
        condition = "ASSIGNMENT_ARITY_MISMATCH"
        lowering.findings.append(Finding(Code.INVALID_CLAUSE, message_text, site, None, condition))
        return lowering.unknown_rows(None, site, below)
    return lowering.select(
        (below,), [Item(each.fragment, name) for each, name in zip(items, names, strict=True)]
    )


def to_schema(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`to`: the columns of a schema, found by name and cast."""
    below = lower(message.input)
    schema = type_of(message.schema)
    if not below.known or not isinstance(schema, t.StructType):
        return lowering.unknown_rows("`to` of a frame of unknown columns", site, below)
    items = []
    for each in schema.fields:
        places = below.named(each.name)
        kind = format_type(each.type)
        if len(places) > 1 or (places and isinstance(below.columns[places[0]].type, t.StructType)):
            raise NoSql("`to` with a nested schema")
        if not places:
            items.append(Item(sql(f"CAST(NULL AS {kind})", site=site), each.name))
            continue
        column = below.columns[places[0]]
        value = written(column.sql)
        same = column.type is each.type
        items.append(Item(sql(value if same else f"CAST({value} AS {kind})", site=site), each.name))
    return lowering.select((below,), items)


def alias(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`alias`: the same columns, which answer to another name."""
    below = lower(message.input)
    path = (message.alias.lower(),)
    columns = tuple(
        LayerColumn(each.name, each.sql, each.value, (0, at), each.hidden, path)
        for at, each in enumerate(below.columns)
    )
    return Layer(below.name, columns, below.known, (below,))


def with_missing(layer: Layer, messages: list[Any]) -> Layer:
    """The layer with what filters and orderings name of the columns that it has left out."""
    for message in messages:
        for each in attributes_of(message):
            if each.DESCRIPTOR.name == "ExpressionString":
                read = read_expression(each.expression)
                names = read.columns if isinstance(read, ExpressionText) else ()
                wanted = [(parts[0], None) for parts, _ in names if len(parts) == 1]
            else:
                name = each.unparsed_identifier
                wanted = [(name, each.plan_id if each.HasField("plan_id") else None)]
            for name, plan_id in wanted:
                if layer.known and not _places(layer, name, plan_id):
                    layer = _exposed(layer, name, plan_id) or layer
    return layer


def _places(layer: Layer, name: str, plan_id: int | None) -> tuple[int, ...]:
    if plan_id is None:
        return tuple(layer.named(bare_name(name)))
    return find_by_plan(layer, plan_id, bare_name(name)).places


def _exposed(layer: Layer, name: str, plan_id: int | None) -> Layer | None:
    if layer.exposed is None or len(layer.inputs) != 1:
        return None
    below: Layer | None = layer.inputs[0]
    if below is None or not below.known:
        return None
    if not _places(below, name, plan_id):
        below = _exposed(below, name, plan_id)
    places = _places(below, name, plan_id) if below is not None else ()
    if below is None or len(places) != 1:
        return None
    made = layer.exposed(below, places[0])
    made.plan_ids = set(layer.plan_ids)
    return made
