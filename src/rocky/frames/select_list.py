"""Select lists: the entries of a layer's SELECT, and what columns come of them."""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import Layer, LayerColumn, unique_names, written
from rocky.language.binder.expr import Column
from rocky.language.binder.query import BoundQuery
from rocky.language.datatypes.types import StructField
from rocky.language.functions.generators import GENERATORS

_NUMBERS: Final = {
    "CAST(NaN AS DOUBLE)": "NaN",
    "CAST(Infinity AS DOUBLE)": "Infinity",
    "CAST(-Infinity AS DOUBLE)": "-Infinity",
}
"""Numbers that SQL has no literal for, as Spark prints them."""

_MAKES_ROWS: Final = re.compile(rf"\b(?:{'|'.join(GENERATORS)})\s*\(", re.IGNORECASE)


class Item(NamedTuple):
    """One entry of a select list. `name` is None where Spark makes one up.

    `several` tells that it may give more than one column, called `names` where the author did;
    one that `generates` makes rows, and can be given names.
    """

    fragment: Fragment
    name: str | None = None
    origin: tuple[int, int] | None = None
    hidden: bool = False
    qualifier: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    several: bool = False
    generates: bool = False


def are_named(items: Sequence[Item]) -> bool:
    """Whether the list gives one column for each item, of its name, whatever the binder finds."""
    return all(
        each.name
        and not each.several
        and (each.origin is not None or not _MAKES_ROWS.search(each.fragment.text))
        for each in items
    )


def passed_on(layer: Layer, at: int = 0, alias: str | None = None) -> list[Item]:
    """The columns of an input as they are, hidden ones included; `at` is the input's place."""
    if not layer.known:
        return [Item(sql(f"{alias}.*" if alias else "*"), several=True)]
    prefix = f"{alias}." if alias else ""
    return [
        Item(
            sql(prefix + written(each.sql)),
            each.name,
            (at, index),
            each.hidden,
            each.qualifier,
        )
        for index, each in enumerate(layer.columns)
    ]


def hidden_item(child: Layer, at: int) -> Item:
    """A column of an input that no star shows."""
    column = child.columns[at]
    return Item(
        sql(written(column.sql)), column.name, (0, at), hidden=True, qualifier=column.qualifier
    )


def listed_items(
    items: Sequence[Item], names: Sequence[str | None], whole: Layer | None
) -> Fragment:
    """The select list; where it begins with all columns of the layer `whole`, with a star."""
    columns = whole.columns if whole is not None else ()
    starred = 0 < len(columns) <= len(items) and all(
        items[at].origin == (0, at) and names[at] == each.sql for at, each in enumerate(columns)
    )
    parts = [sql("*")] if starred else []
    first = len(columns) if starred else 0
    for item, name in zip(items[first:], names[first:], strict=True):
        if item.several:
            several = ", ".join(written(each) for each in item.names)
            parts.append(sql(item.fragment, f" AS ({several})") if several else item.fragment)
        elif name is None or (item.origin is not None and item.fragment.text == written(name)):
            parts.append(item.fragment)
        else:
            parts.append(sql(item.fragment, f" AS {written(name)}"))
    return joined(", ", parts)


def widths_of(
    items: Sequence[Item], bound: BoundQuery, width: Callable[[Item], int]
) -> list[int] | None:
    """How many columns each item gives, None where that cannot be told; `width` asks of one."""
    several = [at for at, each in enumerate(items) if each.several]
    widths = [1] * len(items)
    if len(several) == 1:
        widths[several[0]] += len(bound.columns) - len(items)
    else:
        for at in several:
            widths[at] = width(items[at])
    return widths if min(widths) >= 0 and sum(widths) == len(bound.columns) else None


def columns_of(
    items: Sequence[Item], widths: list[int] | None, bound: BoundQuery, renamed: dict[str, str]
) -> tuple[tuple[LayerColumn, ...], list[str | None]]:
    """The columns of a select list, and the name in SQL that each of its items must have."""
    if widths is None:
        plain = tuple(
            LayerColumn(each.name or "", each.name or "", _value(each)) for each in bound.columns
        )
        return plain, [each.name for each in items]
    spread = [item for item, width in zip(items, widths, strict=True) for _ in range(width)]
    named = [
        (
            (item.name if not item.several else None) or seen_name(column.name or "", renamed),
            item.hidden,
        )
        for item, column in zip(spread, bound.columns, strict=True)
    ]
    own = unique_names(named)
    columns = tuple(
        LayerColumn(name, sql_name, _value(column), item.origin, hidden, item.qualifier)
        for item, column, (name, hidden), sql_name in zip(
            spread, bound.columns, named, own, strict=True
        )
    )
    names: list[str | None] = []
    for item, place in zip(items, _places(widths), strict=True):
        if item.several:
            names.append(None)
            continue
        unnamed = item.name is None and own[place] == bound.columns[place].name
        names.append(None if unnamed else own[place])
    return columns, names


def _places(widths: Sequence[int]) -> list[int]:
    """Where the columns of each item begin."""
    return [0, *accumulate(widths)][:-1]


def _value(column: Column) -> StructField:
    # Not the column itself: it holds on to the tree of its query.
    return StructField("", column.type, column.nullable)


def with_own_names(
    items: Sequence[Item],
    widths: list[int] | None,
    columns: tuple[LayerColumn, ...],
    bound: BoundQuery,
) -> Sequence[Item]:
    """The items; what a generator gives is named where its own names are taken."""
    if widths is None:
        return items
    named = list(items)
    for at, (item, width, place) in enumerate(zip(items, widths, _places(widths), strict=True)):
        own = [each.sql for each in columns[place : place + width]]
        if item.generates and own != [each.name for each in bound.columns[place : place + width]]:
            named[at] = item._replace(names=tuple(own))
    return named


def renamed_in(inputs: Sequence[Layer]) -> dict[str, str]:
    """The names that people see, by those in SQL which differ."""
    return {
        each.sql: each.name for layer in inputs for each in layer.columns if each.sql != each.name
    }


def seen_name(printed: str, renamed: dict[str, str]) -> str:
    """A printed name with the names of columns that people see."""
    for own, name in (*_NUMBERS.items(), *renamed.items()):
        if own in printed:
            shown = name.replace("\\", "\\\\")
            after = "" if own.endswith("(") else r"(?!\w)"
            printed = re.sub(rf"(?<!\w){re.escape(own)}{after}", shown, printed)
    return printed
