"""Growth: the type a stored column needs to hold what it holds and what its source has now.

Delta's rules of widening, applied part by part: fields of structs go by name, may be added and
may widen, but none may go.
"""

from rocky.datatypes.types import (
    UNKNOWN,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    array,
    map_of,
    struct,
)
from rocky.datatypes.widening import is_lossless
from rocky.drift.projection import loosen
from rocky.store.evolution import evolves


def grow_type(stored: DataType, live: DataType) -> DataType | None:
    """The type that holds the values of both, or None when there is none by Delta's rules.

    It is `stored` itself when that holds all that is live.
    """
    stored, live = loosen(stored), loosen(live)
    if stored is UNKNOWN or live is UNKNOWN:
        return None
    if is_lossless(live, stored):
        return stored
    if is_lossless(stored, live):
        return live
    match stored, live:
        case StructType(), StructType():
            return _grow_struct(stored, live)
        case ArrayType(), ArrayType():
            element = grow_type(stored.element, live.element)
            return None if element is None else array(element)
        case MapType(), MapType():
            key, value = grow_type(stored.key, live.key), grow_type(stored.value, live.value)
            return None if key is None or value is None else map_of(key, value)
        case _:
            return None


def is_addition(stored: DataType, grown: DataType) -> bool:
    """Whether a type grew by new fields only, so that no file has to be written again."""
    before, after = StructField("x", loosen(stored), True), StructField("x", grown, True)
    return evolves((before,), (after,)) is None


def _grow_struct(stored: StructType, live: StructType) -> StructType | None:
    given = {field.name.lower(): field for field in live.fields}
    fields: list[StructField] = []
    for field in stored.fields:
        found = given.pop(field.name.lower(), None)
        kind = grow_type(field.type, found.type) if found is not None else None
        if kind is None:
            return None
        fields.append(StructField(field.name, kind, True))
    return struct((*fields, *given.values()))
