"""Nesting: two arrays, maps or structs become one by meeting part by part.

The parts' nullability is merged too, and a part whose cast may fail becomes nullable; a map
whose key could become null has no common type at all.
"""

from collections.abc import Callable

from rocky.datatypes.casts import force_nullable
from rocky.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    array,
    map_of,
    struct,
)

Finder = Callable[[DataType, DataType], DataType | None]
"""How two parts find their common type."""


def merge_parts(a: DataType, b: DataType, find: Finder) -> DataType | None:
    """The common type of two types of one shape; None for any others."""
    if isinstance(a, ArrayType) and isinstance(b, ArrayType):
        element = find(a.element, b.element)
        if element is None:
            return None
        return array(
            element,
            a.contains_null
            or b.contains_null
            or force_nullable(a.element, element)
            or force_nullable(b.element, element),
        )
    if isinstance(a, MapType) and isinstance(b, MapType):
        return _map_type(a, b, find)
    if isinstance(a, StructType) and isinstance(b, StructType):
        return _struct_type(a, b, find)
    return None


def _map_type(a: MapType, b: MapType, find: Finder) -> DataType | None:
    key = find(a.key, b.key)
    if key is None or force_nullable(a.key, key) or force_nullable(b.key, key):
        return None
    value = find(a.value, b.value)
    if value is None:
        return None
    return map_of(
        key,
        value,
        a.contains_null
        or b.contains_null
        or force_nullable(a.value, value)
        or force_nullable(b.value, value),
    )


def _struct_type(a: StructType, b: StructType, find: Finder) -> DataType | None:
    if len(a.fields) != len(b.fields):
        return None
    merged: list[StructField] = []
    for left, right in zip(a.fields, b.fields, strict=True):
        if left.name.lower() != right.name.lower():
            return None
        found = find(left.type, right.type)
        if found is None:
            return None
        nullable = (
            left.nullable
            or right.nullable
            or force_nullable(left.type, found)
            or force_nullable(right.type, found)
        )
        merged.append(StructField(left.name, found, nullable))
    return struct(tuple(merged))
