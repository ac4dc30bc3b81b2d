"""Row parts: the values Spark's hash is given of a row, so that rows that differ hash differently.

Spark's hash folds one value after the other into a number and passes over nulls. So a word of flags
comes first that says which values are null (and which zeros are negative), an array is led by its
length, and whatever sits inside an array or a map is hashed on its own. What is declared never
matters, only what is there: NOT NULL or not, a row has one hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import functions as f

from rocky.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from rocky.spark.names import column_named

LANES: Final = (0, 1)
"""The two hashes of a row: they see the same parts from different seeds."""

_FLAGS_A_WORD: Final = 31
_FLOATS: Final = ("float", "double")
_NESTED: Final = (ArrayType, MapType, StructType)


@dataclass(frozen=True, slots=True)
class Hashing:
    """How parts are hashed. Maps count as equal in any order, unless `maps_in_order`."""

    lane: int
    maps_in_order: bool = False


@dataclass(slots=True)
class _Parts:
    flags: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


def row_hash(fields: Sequence[StructField], lane: int = 0, *, maps_in_order: bool = False) -> Any:
    """A 64-bit hash of these columns."""
    members = [(column_named(each.name), each.type) for each in fields]
    return _hash(members, Hashing(lane, maps_in_order))


def _hash(members: Sequence[tuple[Any, DataType]], how: Hashing) -> Any:
    parts = _Parts()
    for column, kind in members:
        _add(parts, column, kind, how)
    # A first value of its own is a seed of its own: Spark's is fixed.
    seed = [f.lit(how.lane)] if how.lane else []
    return f.xxhash64(*seed, *_words(parts.flags), *parts.values)


def _words(flags: Sequence[Any]) -> list[Any]:
    """The flags as bits of integers."""
    words = []
    for start in range(0, len(flags), _FLAGS_A_WORD):
        word = f.lit(0)
        for place, flag in enumerate(flags[start : start + _FLAGS_A_WORD]):
            word = word.bitwiseOR(f.when(flag, f.lit(1 << place)).otherwise(f.lit(0)))
        words.append(word)
    return words


def _add(parts: _Parts, column: Any, kind: DataType, how: Hashing) -> None:
    parts.flags.append(column.isNull())
    match kind:
        case StructType(fields=fields):
            for each in fields:
                _add(parts, column.getField(each.name), each.type, how)
        case ArrayType():
            parts.values += [f.size(column), *_elements(column, kind, how)]
        case MapType(key=key, value=value):
            entries = f.transform(
                f.map_entries(column),
                lambda one: _hash([(one["key"], key), (one["value"], value)], how),
            )
            entries = entries if how.maps_in_order else f.array_sort(entries)
            parts.values += [f.size(column), entries]
        case _ if kind.kind == "variant":
            # The text of a value does not tell 1 from 1.0, nor a date from a string.
            parts.values += [f.to_json(column), f.schema_of_variant(column)]
        case _ if kind.kind in _FLOATS:
            parts.flags.append(_is_negative_zero(column))
            parts.values.append(column)
        case _ if kind.kind != "void":
            parts.values.append(column)


def _elements(column: Any, kind: ArrayType, how: Hashing) -> list[Any]:
    """What is hashed of an array's elements beside their number.

    Spark hashes an array of plain values fast, but for its nulls and negative zeros: only an array
    that has some is looked at one by one.
    """
    element = kind.element
    if isinstance(element, _NESTED) or element.kind == "variant":
        return [f.transform(column, lambda one: _hash([(one, element)], how))]
    if element.kind == "void":
        return []
    values = [column]
    if kind.contains_null:
        nulls = f.transform(column, lambda one: one.isNull())
        values.append(f.when(f.exists(column, lambda one: one.isNull()), nulls))
    if element.kind in _FLOATS:
        zeros = f.transform(column, _is_negative_zero)
        zero = f.lit(0.0).cast(element.text)
        found = f.array_contains(column, zero) & f.exists(column, _is_negative_zero)
        values.append(f.when(found, zeros))
    return values


def _is_negative_zero(column: Any) -> Any:
    """Whether a number is -0.0, which equals 0.0; of all functions, the cosecant tells fastest."""
    return f.when(column == f.lit(0.0), f.csc(column) < f.lit(0.0)).otherwise(f.lit(False))
