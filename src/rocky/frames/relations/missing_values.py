"""`na`: nulls filled, dropped and replaced, by the types of the columns."""

from collections.abc import Callable
from typing import Any

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.frames.fragments import sql
from rocky.frames.layers import Layer, LayerColumn, written
from rocky.frames.literals import literal_sql
from rocky.frames.lowering import Finding, Lowering
from rocky.frames.select_list import Item, passed_on
from rocky.frames.sites import Site
from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import format_type
from rocky.language.names import split_name

Lower = Callable[[Any], Layer]


def fill(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`fillna`: only columns of the value's kind change."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("`fillna` in a frame of unknown columns", site, below)
    check_names(message.cols, below, lowering, site)
    one = message.values[0] if len(message.values) == 1 else None
    given = dict(zip([name.lower() for name in message.cols], message.values, strict=False))
    items = []
    for item, column in zip(passed_on(below), below.columns, strict=True):
        value = given.get(column.key)
        if one is not None and (not message.cols or column.key in _keys(message)):
            value = one
        wanted = (
            None
            if value is None or column.hidden
            else _filled(value, column, alone=one is not None)
        )
        items.append(item if wanted is None else Item(sql(wanted, site=site), column.name))
    return lowering.select((below,), items)


def _keys(message: Any) -> set[str]:
    return {name.lower() for name in message.cols}


def _filled(value: Any, column: LayerColumn, *, alone: bool) -> str | None:
    """The filled column; None where the value is of another kind."""
    kind = value.WhichOneof("literal_type")
    name, type_text = written(column.sql), format_type(column.type)
    if kind == "string":
        return f"coalesce({name}, {literal_sql(value)})" if _is_text(column) else None
    if kind == "boolean":
        return f"coalesce({name}, {literal_sql(value)})" if column.type is t.BOOLEAN else None
    if not t.is_numeric(column.type):
        return None
    number = getattr(value, kind) if kind in ("integer", "long") else None
    # One value for many columns is a double to Spark; one for each is what it was.
    text = literal_sql(value) if number is None else f"{number}{'D' if alone else ''}"
    filled = f"CAST({text} AS {type_text})"
    if column.type in (t.FLOAT, t.DOUBLE):
        return f"coalesce(nanvl({name}, CAST(NULL AS {type_text})), {filled})"
    return f"coalesce({name}, {filled})"


def _is_text(column: LayerColumn) -> bool:
    return isinstance(column.type, t.StringType)


def drop_rows(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`dropna`."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("`dropna` in a frame of unknown columns", site, below)
    check_names(message.cols, below, lowering, site)
    chosen = [each for each in below.visible if not message.cols or each.key in _keys(message)]
    present = [_present(each) for each in chosen]
    if not present:
        return lowering.select((below,), passed_on(below))
    if message.HasField("min_non_nulls"):
        counted = " + ".join(f"CASE WHEN {each} THEN 1 ELSE 0 END" for each in present)
        condition = f"({counted}) >= {message.min_non_nulls}"
    else:
        condition = " AND ".join(present)
    return lowering.select((below,), passed_on(below), sql(f" WHERE {condition}", site=site))


def _present(column: LayerColumn) -> str:
    name = written(column.sql)
    if column.type in (t.FLOAT, t.DOUBLE):
        return f"({name} IS NOT NULL AND NOT isnan({name}))"
    return f"{name} IS NOT NULL"


def replace(message: Any, lowering: Lowering, lower: Lower, site: Site | None) -> Layer:
    """`replace`: only columns of the values' kind change, and keep their types."""
    below = lower(message.input)
    if not below.known:
        return lowering.unknown_rows("`replace` in a frame of unknown columns", site, below)
    check_names(message.cols, below, lowering, site)
    items = []
    for item, column in zip(passed_on(below), below.columns, strict=True):
        chosen = not column.hidden and (not message.cols or column.key in _keys(message))
        made = _replaced(message, column) if chosen else None
        items.append(item if made is None else Item(sql(made, site=site), column.name))
    return lowering.select((below,), items)


def _replaced(message: Any, column: LayerColumn) -> str | None:
    kinds = {each.old_value.WhichOneof("literal_type") for each in message.replacements}
    fits = (
        (kinds <= {"string", "null"} and _is_text(column))
        or (kinds <= {"boolean", "null"} and column.type is t.BOOLEAN)
        or (not kinds & {"string", "boolean"} and t.is_numeric(column.type))
    )
    if not fits:
        return None
    name, kind = written(column.sql), format_type(column.type)
    arms = " ".join(
        f"WHEN {name} = CAST({literal_sql(each.old_value)} AS {kind})"
        f" THEN CAST({literal_sql(each.new_value)} AS {kind})"
        for each in message.replacements
    )
    return f"CASE {arms} ELSE {name} END"


def check_names(names: Any, below: Layer, lowering: Lowering, site: Site | None) -> None:
    """Report names that are no columns, as Spark does."""
    for name in names:
        if not below.named(split_name(name)[0]) and not below.named(name):
            near = closest(name, [each.name for each in below.visible])
            lowering.findings.append(
                Finding(
                    Code.UNKNOWN_COLUMN,
                    f"no column `{name}` in this frame",
                    site,
                    f"there is a column `{near}`" if near else None,
                    "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                )
            )
