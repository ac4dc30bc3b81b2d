"""Evolution: which schemas a table may go on with while it keeps its files.

Files that lack a column read as null there, so columns may be added and NOT NULL may be dropped at
once. Everything else means that old files would be read wrong by somebody: a widened type needs
Delta's `typeWidening` feature, which few readers have, so Rocky rewrites the files instead.
"""

from collections.abc import Sequence

from rocky.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.datatypes.widening import is_lossless


def same_columns(left: Sequence[StructField], right: Sequence[StructField]) -> bool:
    """Whether two schemas are equal in every name, type and nullability, in order."""
    return [(f.name, f.type, f.nullable) for f in left] == [
        (f.name, f.type, f.nullable) for f in right
    ]


def evolves(old: Sequence[StructField], new: Sequence[StructField]) -> str | None:
    """What keeps a table of `old` columns from going on as `new` with its files, or None."""
    return _fields_evolve(old, new, "")


def needs_rewrite(old: Sequence[StructField], new: Sequence[StructField]) -> bool:
    """Whether every file must be written anew before a table can have the columns `new`."""
    return evolves(old, new) is not None


def _fields_evolve(old: Sequence[StructField], new: Sequence[StructField], path: str) -> str | None:
    kept = {field.name: field for field in new}
    for field in old:
        name = f"{path}{field.name}"
        found = kept.pop(field.name, None)
        if found is None:
            return f"column `{name}` is gone"
        if field.nullable and not found.nullable:
            return f"column `{name}` becomes NOT NULL"
        why = _type_evolves(field.type, found.type, name)
        if why is not None:
            return why
    required = next((field.name for field in kept.values() if not field.nullable), None)
    if required is not None:
        return f"the new column `{path}{required}` is NOT NULL, and the rows before have none"
    return None


def _type_evolves(old: DataType, new: DataType, path: str) -> str | None:
    if old is new:
        return None
    match old, new:
        case StructType(), StructType():
            return _fields_evolve(old.fields, new.fields, f"{path}.")
        case ArrayType(), ArrayType() if new.contains_null or not old.contains_null:
            return _type_evolves(old.element, new.element, f"{path}.element")
        case MapType(), MapType() if new.contains_null or not old.contains_null:
            return _type_evolves(old.key, new.key, f"{path}.key") or _type_evolves(
                old.value, new.value, f"{path}.value"
            )
        case StringType(), StringType() if is_lossless(old, new):
            return None
    how = "widens" if is_lossless(old, new) else "changes"
    return f"column `{path}` {how} from {old} to {new}"
