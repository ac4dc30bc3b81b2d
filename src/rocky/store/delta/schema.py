"""Columns as Delta's log spells them, and which columns a table may continue with.

Delta has fewer types than Spark. Lengths, collations and intervals are stored as what their
Parquet files hold (strings and whole numbers), and the type itself in the column's metadata, so
any Delta reader reads the column and Rocky knows what it means. Types without such a form are
refused.

Files that lack a column read as null there, so columns may be added and NOT NULL may be dropped at
once. Everything else means that old files would be read wrong by somebody: a widened type needs
Delta's `typeWidening` feature, which few readers have, so Rocky rewrites the files instead.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.parts import holds_kind, parts_of
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.text import (
    TypeSyntaxError,
    decode_type,
    encode_type,
    parse_type,
    type_from_json,
    type_to_json,
)
from rocky.language.datatypes.types import DataType, StructField

FULL_TYPE: Final = "rocky.type"
"""Column metadata: the Spark type, where Delta's is a lesser one."""
SIZED_STRING: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""Column metadata: how Spark itself remembers CHAR and VARCHAR."""

FEATURES: Final = {"timestamp_ntz": "timestampNtz", "variant": "variantType"}
"""Types that a table may hold only when its protocol names the feature."""

_STORED_AS: Final = {
    "char": t.STRING,
    "varchar": t.STRING,
    "string": t.STRING,
    "interval_ym": t.INT,
    "interval_dt": t.BIGINT,
}
_PLAIN: Final = frozenset(
    "boolean tinyint smallint int bigint float double decimal binary date timestamp timestamp_ntz"
    " variant".split()
)
_ADVICE: Final = {
    "void": "every value is NULL and its type is not known; cast it to the type it should have",
    "unknown": "its type is not known; cast it to the type it should have",
    "interval": "calendar intervals cannot be stored; cast it to a day-time or year-month interval",
    "time": "times of day cannot be stored in Delta tables; cast it to a string or a timestamp",
    "struct": "it is a struct without fields, which Parquet cannot hold",
}


class UnstorableColumns(ValueError):
    """Columns that a Delta table cannot have; the message names the first."""


def format_schema(columns: Sequence[StructField]) -> str:
    """Delta's `schemaString` of columns. Raises `UnstorableColumns`."""
    refuse_unstorable(columns)
    fields = [_field_json(column) for column in columns]
    whole = {"type": "struct", "fields": fields}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)


def parse_schema(text: str) -> tuple[StructField, ...]:
    """The columns of a `schemaString`. Raises `ValueError` for a text that is none."""
    try:
        return tuple(_parse_field(field) for field in json.loads(text)["fields"])
    except (KeyError, TypeError, TypeSyntaxError) as error:
        raise ValueError(f"not a Delta schema: {error}") from error


def refuse_unstorable(columns: Sequence[StructField]) -> None:
    """Raise `UnstorableColumns` unless a Delta table can have these columns."""
    if not columns:
        raise UnstorableColumns("there are no columns; select at least one")
    seen: dict[str, str] = {}
    for column in columns:
        other = seen.get(column.name.lower())
        if other is not None:
            raise UnstorableColumns(
                f"columns `{other}` and `{column.name}` have the same name; rename one of them"
            )
        seen[column.name.lower()] = column.name
        stored_type(column.type, column.name)


def stored_type(type: DataType, path: str) -> DataType:  # noqa: A002 - the noun of this package
    """The type that Delta and the files hold a column as. `path` names it where it is refused."""
    match type:
        case t.ArrayType():
            return t.array(stored_type(type.element, f"{path}.element"), type.contains_null)
        case t.MapType():
            key = stored_type(type.key, f"{path}.key")
            return t.map_of(key, stored_type(type.value, f"{path}.value"), type.contains_null)
        case t.StructType() if type.fields:
            return t.struct(
                tuple(
                    StructField(f.name, stored_type(f.type, f"{path}.{f.name}"), f.nullable)
                    for f in type.fields
                )
            )
    if type.kind in _STORED_AS:
        return _STORED_AS[type.kind]
    if type.kind in _PLAIN:
        return type
    raise UnstorableColumns(f"column `{path}` ({type}): {_ADVICE[type.kind]}")


def required_features(columns: Sequence[StructField]) -> frozenset[str]:
    """The table features that a protocol must name for these columns."""
    kinds = {part.kind for column in columns for part in parts_of(column.type)}
    return frozenset(feature for kind, feature in FEATURES.items() if kind in kinds)


def _field_json(column: StructField) -> dict[str, Any]:
    stored = stored_type(column.type, column.name)
    metadata: dict[str, Any] = {}
    if stored is not column.type:
        metadata[FULL_TYPE] = encode_type(column.type)
    if holds_kind(column.type, "char", "varchar"):
        metadata[SIZED_STRING] = str(column.type)
    return {
        "name": column.name,
        "type": type_to_json(stored),
        "nullable": column.nullable,
        "metadata": metadata,
    }


def _parse_field(field: Any) -> StructField:
    found = type_from_json(field["type"])
    metadata = field.get("metadata") or {}
    if FULL_TYPE in metadata:
        full = decode_type(metadata[FULL_TYPE])
        # Another tool may have changed the column and left our note behind.
        if stored_type(full, field["name"]) is found:
            found = full
    elif found is t.STRING and SIZED_STRING in metadata:
        found = parse_type(metadata[SIZED_STRING])
    return StructField(field["name"], found, field["nullable"])


def same_columns(left: Sequence[StructField], right: Sequence[StructField]) -> bool:
    """Whether two schemas are equal in every name, type and nullability, in order."""
    return [(f.name, f.type, f.nullable) for f in left] == [
        (f.name, f.type, f.nullable) for f in right
    ]


def evolves(old: Sequence[StructField], new: Sequence[StructField]) -> str | None:
    """Why a table of `old` columns cannot become `new` with its files, or None."""
    return _fields_evolve(old, new, "")


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
        case t.StructType(), t.StructType():
            return _fields_evolve(old.fields, new.fields, f"{path}.")
        case t.ArrayType(), t.ArrayType() if new.contains_null or not old.contains_null:
            return _type_evolves(old.element, new.element, f"{path}.element")
        case t.MapType(), t.MapType() if new.contains_null or not old.contains_null:
            return _type_evolves(old.key, new.key, f"{path}.key") or _type_evolves(
                old.value, new.value, f"{path}.value"
            )
        case t.StringType(), t.StringType() if is_lossless(old, new):
            return None
        case _:
            pass
    how = "widens" if is_lossless(old, new) else "changes"
    return f"column `{path}` {how} from {old} to {new}"
