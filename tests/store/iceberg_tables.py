"""Iceberg tables without rows, and Iceberg's own reader.

The reader is loaded when a test asks for it: it takes as long as a hundred tests.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_iceberg(location: str, properties: Mapping[str, str] | None = None) -> Any:
    """The table that a metadata file describes, as `pyiceberg` reads it."""
    from pyiceberg.table import StaticTable  # noqa: PLC0415 - as said above

    return StaticTable.from_metadata(location, dict(properties or {}))


def metadata_of(*schemas: list[dict[str, Any]], current: int = 0, **more: Any) -> dict[str, Any]:
    """A table without rows."""
    return {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "file:///nowhere",
        "last-sequence-number": 0,
        "last-updated-ms": 1,
        "last-column-id": 1000,
        "current-schema-id": current,
        "schemas": [
            {"type": "struct", "schema-id": number, "fields": fields}
            for number, fields in enumerate(schemas)
        ],
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        **more,
    }


def field(number: int, name: str, kind: Any, required: bool = False) -> dict[str, Any]:
    return {"id": number, "name": name, "required": required, "type": kind}


def put(folder: Path, version: int, document: dict[str, Any], hint: str | None = None) -> Path:
    path = folder / f"metadata/v{version}.metadata.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    if hint is not None:
        (path.parent / "version-hint.text").write_text(hint)
    return path
