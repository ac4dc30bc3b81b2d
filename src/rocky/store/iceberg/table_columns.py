"""Table columns: those that Spark finds in an Iceberg table of a folder, told by its metadata.

Only tables that Spark finds by their path are told: `metadata/v3.metadata.json`, where
`version-hint.text` says which is the latest, or the highest number does. Files of catalogues
(`00003-....metadata.json`) are not: which of them is valid only the catalogue knows. None means
that Spark has to be asked.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField

_VERSION: Final = re.compile(r"v([0-9]{1,9})\.metadata\.json")
_DIGITS: Final = re.compile(r"[0-9]{1,9}")
_DECIMAL: Final = re.compile(r"decimal\(([0-9]{1,2}), ?([0-9]{1,2})\)")
_FIXED: Final = re.compile(r"fixed\[[0-9]{1,9}\]")
_FORMATS: Final = (1, 2, 3)
_MOST_BYTES: Final = 64 * 1024 * 1024
_ATOMS: Final[Mapping[str, DataType]] = {
    "boolean": t.BOOLEAN,
    "int": t.INT,
    "long": t.BIGINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "date": t.DATE,
    "timestamp": t.TIMESTAMP_NTZ,
    "timestamptz": t.TIMESTAMP,
    "string": t.STRING,
    "uuid": t.STRING,
    "binary": t.BINARY,
}


class _NotTold(Exception):
    """Something that only Spark can say how it reads it."""


def table_columns(folder: Path) -> tuple[StructField, ...] | None:
    """The columns of the table in a folder, NOT NULL where they are required.

    None where Spark has to be asked, also of a table that cannot be read: Spark says what is wrong.
    """
    try:
        path = _latest(folder / "metadata")
        if path.stat().st_size > _MOST_BYTES:
            return None
        columns = _columns(json.loads(path.read_bytes()))
    except (_NotTold, OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    names = {each.name.lower() for each in columns}
    return columns if columns and len(names) == len(columns) else None


def _latest(folder: Path) -> Path:
    """The metadata file that is valid; a writer may have come further than the hint says."""
    there: dict[int, Path] = {}
    for each in folder.iterdir():
        if (found := _VERSION.fullmatch(each.name)) and found[1] == str(int(found[1])):
            there[int(found[1])] = each
        elif each.name.startswith("v") and ".metadata.json" in each.name:
            raise _NotTold  # It is compressed.
    hint = folder / "version-hint.text"
    if hint.exists():
        text = hint.read_text(encoding="utf-8").strip()
        if _DIGITS.fullmatch(text) is None:
            raise _NotTold
        version = int(text)
        while version + 1 in there:
            version += 1
    else:
        version = max(there, default=0)
    return there[version]


def _columns(document: Any) -> tuple[StructField, ...]:
    if document["format-version"] not in _FORMATS:
        raise _NotTold
    if "schemas" not in document:
        return _fields(document["schema"])
    current = document["current-schema-id"]
    (schema,) = [each for each in document["schemas"] if each.get("schema-id") == current]
    return _fields(schema)


def _fields(struct: Any) -> tuple[StructField, ...]:
    return tuple(_field(each) for each in struct["fields"])


def _field(field: Any) -> StructField:
    name, required = field["name"], field["required"]
    if not isinstance(name, str) or not isinstance(required, bool):
        raise _NotTold
    return StructField(name, _type(field["type"]), not required)


def _type(kind: Any) -> DataType:
    if isinstance(kind, str):
        return _atom(kind)
    match kind["type"]:
        case "struct":
            return t.struct(_fields(kind))
        case "list":
            return t.array(_type(kind["element"]), kind["element-required"] is not True)
        case "map":
            key, value = _type(kind["key"]), _type(kind["value"])
            return t.map_of(key, value, kind["value-required"] is not True)
        case _:
            raise _NotTold


def _atom(kind: str) -> DataType:
    if (found := _DECIMAL.fullmatch(kind)) is not None:
        precision, scale = int(found[1]), int(found[2])
        if not 0 < precision <= t.MAX_PRECISION or scale > precision:
            raise _NotTold
        return t.decimal(precision, scale)
    if _FIXED.fullmatch(kind) is not None:
        return t.BINARY
    # Times of day, nanoseconds, variants and shapes depend on the connector's version.
    return _ATOMS[kind]
