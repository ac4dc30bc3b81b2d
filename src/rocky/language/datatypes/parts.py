"""The types inside a type: arrays, maps and structs taken apart, or made again of other parts."""

from collections.abc import Callable, Iterator

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField


def parts_of(kind: DataType) -> Iterator[DataType]:
    """The type itself and every type in it."""
    yield kind
    match kind:
        case t.ArrayType(element=element):
            yield from parts_of(element)
        case t.MapType(key=key, value=value):
            yield from parts_of(key)
            yield from parts_of(value)
        case t.StructType(fields=fields):
            for field in fields:
                yield from parts_of(field.type)
        case _:
            pass


def holds_kind(kind: DataType, *kinds: str) -> bool:
    """Whether the type is of one of the kinds or has a part that is."""
    return any(part.kind in kinds for part in parts_of(kind))


def is_complete(kind: DataType) -> bool:
    """Whether a type is known through and through."""
    return all(part is not t.UNKNOWN for part in parts_of(kind))


def make_nullable(
    kind: DataType,
    *,
    name: Callable[[str], str] = str,
    leaf: Callable[[DataType], DataType] = lambda kind: kind,
) -> DataType:
    """The type with room for nulls in all its parts; `name` and `leaf` may change the rest."""

    def made(part: DataType) -> DataType:
        return make_nullable(part, name=name, leaf=leaf)

    match kind:
        case t.ArrayType(element=element):
            return t.array(made(element))
        case t.MapType(key=key, value=value):
            return t.map_of(made(key), made(value))
        case t.StructType(fields=fields):
            return t.struct(
                tuple(StructField(name(each.name), made(each.type), True) for each in fields)
            )
        case _:
            return leaf(kind)
