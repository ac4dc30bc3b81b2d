"""Readers: pinned files, sources, seeds and literal rows as DataFrames with the declared columns.

A schema is always given, so Spark never guesses and never looks into files to find out. A CSV is
read by position, so its header is checked against the declared names: a reordered file must not be
read as something else.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocky.datatypes.types import StructField
from rocky.errors import SourceUnreadable
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.spark.failures import SPARK_ERRORS, classify_failure
from rocky.spark.literal_rows import literal_rows
from rocky.spark.names import column_named
from rocky.spark.schemas import readable_schema
from rocky.spark.seed_files import read_seed_text
from rocky.spark.source_files import (
    Pinned,
    PinnedFile,
    hide_place,
    named,
    pin_files,
    place_of,
)

_STRICT: Final[Mapping[str, str]] = {
    # What is gone or damaged stops the model; Spark can be told to read on without it.
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
}
_PARQUET: Final[Mapping[str, str]] = {
    **_STRICT,
    "mergeSchema": "false",
    # Bytes read through vectored reads are not counted, and a model's cost is computed from them.
    "parquet.hadoop.vectored.io.enabled": "false",
}
# The files are listed already: a bracket in a path is a bracket, not a pattern.
_LITERAL: Final[Mapping[str, str]] = {"__globPaths__": "false"}
# A folder called `key=value` above a table is no column of it.
_FLAT: Final[Mapping[str, str]] = {"recursiveFileLookup": "true"}
_CSV: Final[Mapping[str, str]] = {
    **_STRICT,
    "header": "true",
    # A row that does not fit its types stops the model; it is never read as nulls.
    "mode": "FAILFAST",
    # The names in the header must be those that were declared, in that order.
    "enforceSchema": "false",
}
_JSON: Final[Mapping[str, str]] = {**_STRICT, "mode": "FAILFAST"}
_DEFAULTS: Final = {"csv": _CSV, "json": _JSON, "parquet": _PARQUET, "orc": _STRICT}
_LONGEST_CELL: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceRead:
    """A source as it was found: its frame, and its files as (path, size, time in ms) if known."""

    frame: Any
    files: tuple[PinnedFile, ...] = ()
    version: str | None = None

    @property
    def bytes(self) -> int | None:
        return sum(file.size for file in self.files) if self.files else None


def read_files(session: Any, fields: Sequence[StructField], uris: Sequence[str]) -> Any:
    """Exactly these Parquet files, with these columns; columns a file lacks are null."""
    schema = readable_schema(fields)
    if not uris:
        return session.createDataFrame([], schema)
    options = {**_PARQUET, **_LITERAL, **_FLAT}
    return session.read.schema(schema).options(**options).parquet(*uris)


def read_lake_files(
    session: Any,
    source: SourceTable,
    fields: Sequence[StructField],
    files: Sequence[PinnedFile],
    *,
    base: str | None,
) -> Any:
    """A source that is exactly these Parquet files, which hold `fields`; its declared columns.

    With a `base`, folders below it that are called `key=value` are columns too.
    """
    if base is None or not files:
        return _declared(read_files(session, fields, [file.path for file in files]), source)
    options = {**_PARQUET, **_LITERAL, "basePath": base}
    reader = session.read.schema(readable_schema(fields)).options(**options)
    return _declared(reader.parquet(*[file.path for file in files]), source)


def read_source(
    session: Any, source: SourceTable, root: Path, pinned: Pinned | None = None
) -> SourceRead:
    """A source with its declared columns, of files only those that are `pinned`, if any are.

    Raises SourceUnreadable when it cannot be found.
    """
    with telling(source):
        if source.format in _DEFAULTS:
            found = pinned or pin_files(session, source, root)
            return _read_source_files(session, source, found)
        return SourceRead(_declared(open_source(session, source, root), source))


def open_source(session: Any, source: SourceTable, root: Path) -> Any:
    """A source that is no list of files, as it is."""
    reader = session.read.options(**source.options)
    if source.format == "table":
        return reader.table(source.path or source.name)
    if source.path is None:
        return reader.format(source.format).load()
    # An Iceberg table may be a name instead of a place; a name has no slash.
    is_place = "/" in source.path or (root / source.path).exists()
    place = place_of(source, root) if is_place else source.path
    return reader.format(source.format).load(place)


@contextmanager
def telling(source: SourceTable) -> Iterator[None]:
    """What Spark says about a source as SourceUnreadable."""
    try:
        yield
    except SPARK_ERRORS as error:
        failure = classify_failure(error)
        said = failure.message
        if failure.condition == "DATA_SOURCE_NOT_FOUND":
            said = (
                f"this Spark has no connector for `{source.format}`: name its package in"
                " `spark.jars.packages` in `[adapter.conf]`"
            )
        raise SourceUnreadable(
            f"{named(source)} cannot be read: {hide_place(source, said)}"
        ) from error


def read_seed(session: Any, seed: SeedTable, root: Path) -> Any:
    """A seed's CSV with its columns; an empty cell is a null, quoted or not.

    Raises RockyError when the file is another than was compiled.
    """
    csv.field_size_limit(_LONGEST_CELL)
    text = read_seed_text(seed, root)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=seed.delimiter, strict=True)
    next(reader, None)
    names = [field.name for field in seed.columns]
    rows = [
        {name: cell or None for name, cell in zip(names, cells, strict=True)}
        for cells in reader
        if cells
    ]
    return literal_rows(session, seed.columns, rows)


def read_rows(
    session: Any, fields: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
) -> Any:
    """Literal rows; absent columns are null, and texts are read as the column's type."""
    return literal_rows(session, fields, rows)


def _read_source_files(session: Any, source: SourceTable, pinned: Pinned) -> SourceRead:
    options = {**_DEFAULTS[source.format], **source.options, **_LITERAL}
    if pinned.base is not None and "recursivefilelookup" not in map(str.lower, source.options):
        options["basePath"] = pinned.base
    reader = session.read.schema(readable_schema(source.columns)).options(**options)
    frame = reader.format(source.format).load([file.path for file in pinned.files])
    # Spark puts columns that it reads from the names of folders last.
    ordered = frame.select(*[column_named(field.name) for field in source.columns])
    return SourceRead(ordered, pinned.files)


def _declared(frame: Any, source: SourceTable) -> Any:
    """The declared columns of a frame whose schema is its own. Raises SourceUnreadable."""
    present = {field.name.lower() for field in frame.schema.fields}
    missing = [field.name for field in source.columns if field.name.lower() not in present]
    if missing:
        shown = ", ".join(f"`{name}`" for name in missing)
        raise SourceUnreadable(f"{named(source)} does not have the declared {shown}")
    wanted = readable_schema(source.columns)
    return frame.select(
        *[
            # Declared as another type: cast under ANSI rules, so a value that does not fit stops.
            column_named(each.name).cast(each.dataType).alias(each.name, metadata=each.metadata)
            for each in wanted.fields
        ]
    )
