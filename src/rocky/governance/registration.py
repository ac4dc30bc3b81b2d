"""Registration: an external Delta table made known to a Unity Catalog server, with its columns.

A table is known by where it lies and by its columns. The server has no way to change the columns of
one, so such a table is taken out and put in again; what was granted on it is granted again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.canonical import canonical_json, text_hash
from rocky.errors import GovernanceRefused
from rocky.governance.facts import Fact
from rocky.language.datatypes.types import INTERVAL_KINDS, DecimalType, StructField

EXTERNAL: Final = "EXTERNAL"
_TYPE_NAMES: Final[Mapping[str, str]] = {
    "boolean": "BOOLEAN",
    "tinyint": "BYTE",
    "smallint": "SHORT",
    "int": "INT",
    "bigint": "LONG",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "string": "STRING",
    "varchar": "STRING",
    "char": "CHAR",
    "binary": "BINARY",
    "decimal": "DECIMAL",
    "array": "ARRAY",
    "struct": "STRUCT",
    "map": "MAP",
    "variant": "VARIANT",
    "void": "NULL",
    **dict.fromkeys(INTERVAL_KINDS, "INTERVAL"),
}


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as the warehouse has it. `fields` are its columns as its log writes them."""

    name: str
    location: str
    columns: tuple[StructField, ...]
    fields: tuple[Mapping[str, Any], ...]
    partition_columns: tuple[str, ...] = ()


def registration_fact(table: StoredTable) -> Fact:
    """What a catalogue is to know of a table. Raises GovernanceRefused for a type it has not."""
    catalog, schema, name = table.name.split(".")
    columns = [
        _column(table, index, column, field)
        for index, (column, field) in enumerate(zip(table.columns, table.fields, strict=True))
    ]
    body = {
        "name": name,
        "catalog_name": catalog,
        "schema_name": schema,
        "table_type": EXTERNAL,
        "data_source_format": "DELTA",
        "columns": columns,
        "storage_location": table.location,
    }
    return Fact(
        "registration",
        "table",
        table.name,
        value=registered_value(body),
        definition=json.dumps(body),
    )


def _column(
    table: StoredTable, index: int, column: StructField, field: Mapping[str, Any]
) -> dict[str, Any]:
    kind = _TYPE_NAMES.get(column.type.kind)
    if kind is None:
        raise GovernanceRefused(
            f"`{table.name}` cannot be registered: the catalogue has no type for `{column.name}`,"
            f" a `{column.type}`"
        )
    found: dict[str, Any] = {
        "name": column.name,
        "type_text": column.type.text.lower(),
        "type_json": json.dumps(field),
        "type_name": kind,
        "position": index,
        "nullable": bool(field["nullable"]),
    }
    if isinstance(column.type, DecimalType):
        found |= {"type_precision": column.type.precision, "type_scale": column.type.scale}
    if column.name in table.partition_columns:
        found["partition_index"] = table.partition_columns.index(column.name)
    return found


def registered_value(table: Mapping[str, Any]) -> str:
    """Where a table lies and a hash of its columns, of what is sent and of what is answered."""
    columns = sorted(table.get("columns") or (), key=lambda each: int(each.get("position") or 0))
    said = [
        [each.get("name"), str(each.get("type_text")).lower(), bool(each.get("nullable"))]
        for each in columns
    ]
    return f"{location_of(table)} columns {text_hash(canonical_json(said))[:16]}"


def location_of(table: Mapping[str, Any]) -> str:
    """Where a table lies, as the server writes it: `file:///` and no slash at the end."""
    place = str(table.get("storage_location") or "").rstrip("/")
    if place.startswith(("file:", "/")):
        return "file:///" + place.removeprefix("file:").lstrip("/")
    return place


def refuse_another(fact: Fact, table: Mapping[str, Any]) -> None:
    """Raise GovernanceRefused unless what is registered under a name is this project's table."""
    place, _, _ = fact.value.rpartition(" columns ")
    found = location_of(table)
    if table.get("table_type") != EXTERNAL or found != place:
        raise GovernanceRefused(
            f"`{fact.on}` is registered as another table ({table.get('table_type')}, `{found}`),"
            f" and this project's is at `{place}`; remove that one, or name ours otherwise"
        )


def changes_back(assignments: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The changes that grant again what was granted."""
    return [
        {"principal": each["principal"], "add": list(each.get("privileges") or ()), "remove": []}
        for each in assignments
        if each.get("privileges")
    ]
