"""Schemas between Rocky and Spark, by way of Spark's own JSON.

Spark has no CHAR or VARCHAR inside a DataFrame: such a column is a string there, with a mark in its
metadata. Whatever is stored is read as nullable, through and through: the NOT NULL of a table is
Rocky's to keep.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql.types import StructType as SparkStruct

from rocky.datatypes.text import field_to_json, fields_from_json, parse_type
from rocky.datatypes.types import StructField

_CHAR_MARK: Final = "__CHAR_VARCHAR_TYPE_STRING"
_CHARS: Final = ("char(", "varchar(")


def spark_schema(fields: Sequence[StructField]) -> Any:
    """The fields as Spark's own schema."""
    return SparkStruct.fromJson(
        {"type": "struct", "fields": [_marked(field_to_json(field)) for field in fields]}
    )


def readable_schema(fields: Sequence[StructField]) -> Any:
    """The fields as Spark reads them from files: everything may be null."""
    marked = [_loose(_marked(field_to_json(field))) for field in fields]
    return SparkStruct.fromJson({"type": "struct", "fields": marked})


def fields_of(frame: Any) -> tuple[StructField, ...]:
    """The columns of a DataFrame."""
    schema = json.loads(frame.schema.json())
    return tuple(
        StructField(field.name, parse_type(mark), field.nullable) if mark else field
        for field, mark in zip(
            fields_from_json(schema),
            (each.get("metadata", {}).get(_CHAR_MARK) for each in schema["fields"]),
            strict=True,
        )
    )


def _marked(value: Any) -> Any:
    """A JSON field or type with CHAR and VARCHAR as Spark spells them inside a DataFrame."""
    if isinstance(value, Mapping):
        found = {key: _marked(each) for key, each in value.items()}
        kind = value.get("type")
        if "name" in value and isinstance(kind, str) and kind.startswith(_CHARS):
            found["metadata"] = {**value.get("metadata", {}), _CHAR_MARK: kind}
        return found
    if isinstance(value, list):
        return [_marked(each) for each in value]
    return "string" if isinstance(value, str) and value.startswith(_CHARS) else value


def _loose(value: Any) -> Any:
    """A JSON field or type in which everything may be null."""
    if isinstance(value, Mapping):
        found = {key: _loose(each) for key, each in value.items()}
        for key in ("nullable", "containsNull", "valueContainsNull"):
            if key in found:
                found[key] = True
        return found
    return [_loose(each) for each in value] if isinstance(value, list) else value
