"""Columns of sources that files tell without Spark: by logs, metadata and footers.

Delta tells them by its log, Iceberg by its metadata, Parquet by its footers.

What is told is what Spark would say; where that is not certain (options, settings that change how
files are read, folders that are columns, files that differ) None is, and Spark has to be asked.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rocky.language.datatypes.types import StructField
from rocky.project.configuration.blocks import Adapter
from rocky.project.sources import SourceTable
from rocky.run.engine.sources import NeedsDeltaConnector, find_delta_source
from rocky.spark.source_files import is_remote, pin_local_files, source_location
from rocky.store.iceberg.table_columns import table_columns
from rocky.store.parquet.file_columns import same_columns

_DECIDING: Final = ("spark.sql.parquet.", "spark.sql.legacy.", "spark.sql.casesensitive")
"""Settings by which Spark reads the same file as other types."""
_DECIDING_ICEBERG: Final = (
    "spark.sql.iceberg.",
    "spark.sql.catalog.default_iceberg",
    "spark.sql.legacy.",
    "spark.sql.casesensitive",
)
"""Settings by which Spark finds another table at the path, or reads it as other types."""


def describe_files(
    source: SourceTable, adapter: Adapter, root: Path, environment: Mapping[str, str]
) -> tuple[StructField, ...] | None:
    """The columns of a source, or None where only Spark can tell. Raises SourceUnreadable."""
    if source.path is None or adapter.remote is not None:
        return None
    if source.format == "delta":
        try:
            found = find_delta_source(source, root, {**environment, **adapter.conf})
        except NeedsDeltaConnector:
            return None
        return found.snapshot.schema
    place = source_location(source, root)
    if source.format not in ("parquet", "iceberg") or source.options or is_remote(place):
        return None
    deciding = _DECIDING_ICEBERG if source.format == "iceberg" else _DECIDING
    if any(name.lower().startswith(deciding) for name in adapter.conf):
        return None
    if source.format == "iceberg":
        return table_columns(Path(place))
    pinned = pin_local_files(source, root)
    base = "" if pinned.base is None else pinned.base
    if any("=" in file.path.removeprefix(base) for file in pinned.files):
        return None
    return same_columns([file.path for file in pinned.files])
