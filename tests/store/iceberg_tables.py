"""Iceberg's own reader, which is loaded when a test asks for it: it takes as long as a hundred tests."""

from collections.abc import Mapping
from typing import Any


def read_iceberg(location: str, properties: Mapping[str, str] | None = None) -> Any:
    """The table that a metadata file describes, as `pyiceberg` reads it."""
    from pyiceberg.table import StaticTable  # noqa: PLC0415 - as said above

    return StaticTable.from_metadata(location, dict(properties or {}))
