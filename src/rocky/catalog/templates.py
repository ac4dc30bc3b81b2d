"""Templates: result types written in terms of the arguments' types.

A template is JSON. A string or an object is a fixed type in Spark's schema JSON; a list is a
hole or a shape: `["arg", 0]`, `["elem", 1]`, `["array", <template>, <bit>]`. A bit says
whether elements may be null, as a null rule (`rocky.catalog.nullability`).
"""

from collections.abc import Callable
from typing import Any, Final

from rocky.catalog.nullability import Flags, NullRule, Types, build_null_rule
from rocky.datatypes.coercion import tightest_type, widest_of
from rocky.datatypes.text import type_from_json
from rocky.datatypes.types import (
    MAX_PRECISION,
    STRING,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    array,
    decimal,
    interval,
    map_of,
    struct,
)

Maker = Callable[[Types, Flags], DataType | None]
"""Gives the result type, or None when the template does not fit the arguments."""


def build_maker(template: Any) -> Maker:
    """The function that fills a template."""
    if not isinstance(template, list):
        fixed = type_from_json(template)
        return lambda _types, _flags: fixed
    match template:
        case ["array", element, bit]:
            return _array_maker(build_maker(element), build_null_rule(bit))
        case ["map", key, value, bit]:
            return _map_maker(build_maker(key), build_maker(value), build_null_rule(bit))
        case ["struct", fields]:
            return _struct_maker(
                [(name, build_maker(part), build_null_rule(bit)) for name, part, bit in fields]
            )
        case ["wide", *positions]:
            return lambda types, _flags: widest_of([types[at] for at in positions])
        case ["text", *positions]:
            return lambda types, _flags: _text([types[at] for at in positions])
        case ["tight", one, two]:
            return lambda types, _flags: tightest_type(types[one], types[two])
        case [hole, position]:
            pick = HOLES[hole]
            return lambda types, _flags: pick(types[position])
        case _:
            raise ValueError(f"no such template: {template}")


def follows_flags(template: Any) -> bool:
    """Whether the result type depends on the nullability of an argument."""
    if isinstance(template, str):
        return template[:1] == "n" and template[1:].isdigit()
    parts = template["all"] if isinstance(template, dict) and "all" in template else template
    return isinstance(parts, list) and any(follows_flags(part) for part in parts)


def is_fixed(template: Any) -> bool:
    return not isinstance(template, list)


# -- shapes -----------------------------------------------------------------------------------


def _array_maker(element: Maker, bit: NullRule) -> Maker:
    def make(types: Types, flags: Flags) -> DataType | None:
        inner = element(types, flags)
        return None if inner is None else array(inner, bit(types, flags))

    return make


def _map_maker(key: Maker, value: Maker, bit: NullRule) -> Maker:
    def make(types: Types, flags: Flags) -> DataType | None:
        left, right = key(types, flags), value(types, flags)
        return None if left is None or right is None else map_of(left, right, bit(types, flags))

    return make


def _struct_maker(fields: list[tuple[str, Maker, NullRule]]) -> Maker:
    def make(types: Types, flags: Flags) -> DataType | None:
        made = []
        for name, part, bit in fields:
            inner = part(types, flags)
            if inner is None:
                return None
            made.append(StructField(name, inner, bit(types, flags)))
        return struct(tuple(made))

    return make


# -- holes ------------------------------------------------------------------------------------


def _element(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    return type.element if isinstance(type, ArrayType) else None


def _inner_element(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    inner = _element(type)
    return None if inner is None else _element(inner)


def _key(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    return type.key if isinstance(type, MapType) else None


def _value(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    return type.value if isinstance(type, MapType) else None


def _text(types: Types) -> DataType:
    """A string of the one collation among the arguments that is not the default."""
    for each in types:
        if isinstance(each, StringType) and each.collation != STRING.collation:
            return each
    return STRING


def _element_text(type: DataType) -> DataType:  # noqa: A002 - the noun of this package
    inner = _element(type)
    return STRING if inner is None else _text([inner])


def _first_field(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    inner = _element(type)
    fields = inner.fields if isinstance(inner, StructType) else ()
    return fields[0].type if len(fields) == 2 else None


def _second_field(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    inner = _element(type)
    fields = inner.fields if isinstance(inner, StructType) else ()
    return fields[1].type if len(fields) == 2 else None


def _sum(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    if isinstance(type, DecimalType):
        return decimal(min(type.precision + 10, MAX_PRECISION), type.scale)
    return None


def _average(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    if isinstance(type, DecimalType):
        precision, scale = type.precision + 4, type.scale + 4
        return decimal(min(precision, MAX_PRECISION), min(scale, MAX_PRECISION))
    return None


def _whole(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    """A decimal rounded to no fraction: one more digit, for the carry."""
    if isinstance(type, DecimalType):
        if type.scale == 0:
            return type
        return decimal(min(type.precision - type.scale + 1, MAX_PRECISION), 0)
    return None


def _carried(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    """As `whole`, but a carry is feared even where there is no fraction to round away."""
    if isinstance(type, DecimalType):
        return decimal(min(type.precision - type.scale + 1, MAX_PRECISION), 0)
    return None


def _widest_unit(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    if type.kind == "interval_ym":
        return interval("year", "month")
    return interval("day", "second") if type.kind == "interval_dt" else None


HOLES: Final[dict[str, Callable[[DataType], DataType | None]]] = {
    "arg": lambda type: type,  # noqa: A006 - the noun of this package
    "elem": _element,
    "elem_text": _element_text,
    "elem_elem": _inner_element,
    "key": _key,
    "value": _value,
    "first_field": _first_field,
    "second_field": _second_field,
    "sum": _sum,
    "avg": _average,
    "whole": _whole,
    "carried": _carried,
    "unit": _widest_unit,
}
