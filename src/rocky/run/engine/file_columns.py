"""Columns of sources that files tell without Spark: Delta by its log, Parquet by its footers.

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
from rocky.store.parquet.file_columns import same_columns

_DECIDING: Final = ("spark.sql.parquet.", "spark.sql.legacy.", "spark.sql.casesensitive")
"""Settings by which Spark reads the same file as other types."""


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
    if source.format != "parquet" or source.options or is_remote(source_location(source, root)):
        return None
    if any(name.lower().startswith(_DECIDING) for name in adapter.conf):
        return None
    pinned = pin_local_files(source, root)
    base = "" if pinned.base is None else pinned.base
    if any("=" in file.path.removeprefix(base) for file in pinned.files):
        return None
    return same_columns([file.path for file in pinned.files])
