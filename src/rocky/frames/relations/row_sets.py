"""Relations that keep the columns and choose rows: set operations, limits, samples, duplicates."""

from collections.abc import Callable
from typing import Any

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.frames.fragments import sql
from rocky.frames.layers import Layer, unique_names, written
from rocky.frames.literals import NoSql
from rocky.frames.lowering import Finding, Lowering, late_layer
from rocky.frames.relations.select_items import items_of
from rocky.frames.scope import over
from rocky.frames.select_list import Item, passed_on
from rocky.frames.sites import Site
from rocky.language.datatypes import types as t

Lower = Callable[[Any], Layer]


def set_operation(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`union`, `unionByName`, `intersect`, `exceptAll` and their relatives."""
    left, right = lower(message.left_input), lower(message.right_input)
    lowering.self_joins.note(left, right)
    if not (left.known and right.known):
        return lowering.unknown_rows("a union with a frame of unknown columns", site, left, right)
    word = {1: "INTERSECT", 2: "UNION", 3: "EXCEPT"}[message.set_op_type]
    every = " ALL" if message.is_all else ""
    first = [written(each.sql) for each in left.visible]
    second = [written(each.sql) for each in right.visible]
    names = [each.name for each in left.visible]
    if message.by_name:
        paired = _paired(message, lowering, (left, right), site)
        if paired is None:
            return lowering.unknown_rows(None, site, left, right)
        first, second, names = paired
    own = unique_names([(name, False) for name in names])
    first = [
        each if each == written(name) else f"{each} AS {written(name)}"
        for each, name in zip(first, own, strict=True)
    ]
    body = sql(
        f"SELECT {', '.join(first)} FROM {left.name} {word}{every}"
        f" SELECT {', '.join(second)} FROM {right.name}",
        site=site,
    )
    if len(second) != len(own):
        # The binder says so, of the whole query.
        return lowering.layer(body, (), (left, right), known=False, wrong=True)
    places = [at for at, each in enumerate(left.columns) if not each.hidden]
    items = [
        Item(sql(""), name, (0, places[at]) if at < len(places) else None)
        for at, name in enumerate(names)
    ]
    return late_layer(lowering, body, items, own, (left, right))


def _paired(
    message: Any, lowering: Lowering, sides: tuple[Layer, Layer], site: Site | None
) -> tuple[list[str], list[str], list[str]] | None:
    """The columns of both sides under one name each; a missing one is null where that is asked."""
    left, right = sides
    _refuse_nested(message, sides)
    first = [(each.name, written(each.sql)) for each in left.visible]
    there = {each.key: each for each in right.visible}
    second: list[str] = []
    for name, _ in first:
        found = there.pop(name.lower(), None)
        if found is None and not message.allow_missing_columns:
            near = closest(name, [each.name for each in right.visible])
            _report(lowering, name, near, site)
            return None
        second.append("NULL" if found is None else written(found.sql))
    for each in there.values():
        if not message.allow_missing_columns:
            _report(lowering, each.name, closest(each.name, [name for name, _ in first]), site)
            return None
        first.append((each.name, "NULL"))
        second.append(written(each.sql))
    return [text for _, text in first], second, [name for name, _ in first]


def _refuse_nested(message: Any, sides: tuple[Layer, Layer]) -> None:
    left, right = sides
    there = {each.key: each for each in right.visible}
    for each in left.visible:
        other = there.get(each.key)
        if (
            other is not None
            and isinstance(each.type, t.StructType)
            and isinstance(other.type, t.StructType)
            and [f.name.lower() for f in each.type.fields]
            != [f.name.lower() for f in other.type.fields]
        ):
            raise NoSql("`unionByName` of structs whose fields differ")


def _report(lowering: Lowering, name: str, near: str | None, site: Site | None) -> None:
    lowering.findings.append(
        Finding(
            Code.UNKNOWN_COLUMN,
            f"the column `{name}` is on one side of `unionByName` only",
            site,
            f"there is a column `{near}`"
            if near
            else "pass `allowMissingColumns=True` to fill it with nulls",
            "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES",
        )
    )


def limit(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`limit` and `tail`."""
    below = lower(message.input)
    return lowering.select((below,), passed_on(below), sql(f" LIMIT {message.limit}", site=site))


def offset(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    below = lower(message.input)
    return lowering.select((below,), passed_on(below), sql(f" OFFSET {message.offset}", site=site))


def sample(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`sample` and `randomSplit`. The client makes up a seed, so none is believed."""
    below = lower(message.input)
    share = sql(" WHERE rand() >= 0", site=site)
    return lowering.select((below,), passed_on(below), share)


def distinct(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`distinct` and `dropDuplicates`: of equal rows, any one."""
    below = lower(message.input)
    if message.within_watermark:
        raise NoSql("streams: `dropDuplicatesWithinWatermark`")
    if message.all_columns_as_keys:
        items = [each for each in passed_on(below) if not each.hidden]
        return lowering.select((below,), items, distinct=True, lasting=False)
    if not below.known:
        return lowering.unknown_rows("`dropDuplicates` of a frame of unknown columns", site, below)
    keys: list[str] = []
    for name in message.column_names:
        places = below.named(name)
        if not places:
            near = closest(name, [each.name for each in below.visible])
            lowering.findings.append(
                Finding(
                    Code.UNKNOWN_COLUMN,
                    f"no column `{name}` in this frame",
                    site,
                    f"there is a column `{near}`" if near else None,
                    "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES",
                )
            )
            continue
        keys += [written(below.columns[at].sql) for at in places]
    if not keys:
        return lowering.select((below,), passed_on(below))
    listed = ", ".join(keys)
    numbered = sql(
        f" FROM (SELECT *, row_number() OVER (PARTITION BY {listed} ORDER BY {listed}) AS"
        f" row__number FROM {below.name}) AS numbered WHERE row__number = 1",
        site=site,
    )
    return lowering.select((below,), passed_on(below), source=numbered)


def same_rows(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """What changes neither rows nor columns: hints, partitions, `observe`."""
    return lower(message.input)


def unpivot(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`unpivot` and `melt`: names and values of columns as rows."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("`unpivot` of a frame of unknown columns", site, below)
    scope = over(lowering, below)
    ids = items_of(message.ids, scope)
    if message.HasField("values"):
        values = items_of(message.values.values, scope)
    else:
        chosen = {each.origin for each in ids}
        values = [
            each for each in passed_on(below) if each.origin not in chosen and not each.hidden
        ]
    if not values:
        return lowering.unknown_rows("an `unpivot` without values", site, below)
    inner = lowering.select((below,), [*ids, *values])
    names = [written(each.sql) for each in inner.columns[len(ids) :]]
    body = sql(
        f"SELECT * FROM {inner.name} UNPIVOT INCLUDE NULLS ({written(message.value_column_name)}"
        f" FOR {written(message.variable_column_name)} IN ({', '.join(names)}))",
        site=site,
    )
    return lowering.query(body, (inner,))
