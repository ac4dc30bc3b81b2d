"""The reader: pinned files, sources, seeds and literal rows as DataFrames of declared columns.

A schema is always given, so Spark never guesses and never looks into files to find out. A CSV is
read by position, so its header is checked against the declared names: a reordered file must not be
read as something else. A seed that was edited since it was compiled is refused: its table would
not be what its hash says.

`describe_source` tells what a source has now, whatever is declared. Files of one folder may have
been written at different times: a column that only some have, or that is wider in later ones, is
part of the table all the same. Files that contradict each other are an error, because nobody can
say which of them is right.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from blake3 import blake3
from pyspark.sql import functions as f

from rocky.errors import RockyError, SourceUnreadable
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.types import STRING, StructField
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.spark.failures import SPARK_ERRORS, classify_failure
from rocky.spark.frame import column_named, fields_of, literal_rows, readable_schema
from rocky.spark.source_files import (
    Pinned,
    PinnedFile,
    hide_location,
    pin_files,
    source_label,
    source_location,
)


def read_seed_text(seed: SeedTable, root: Path) -> str:
    """A seed's CSV, without a byte order mark. Raises RockyError when it is another by now."""
    try:
        data = (root / seed.path).read_bytes()
    except OSError as error:
        raise RockyError(
            f"seed `{seed.name}` cannot be read any more: {error.strerror or error}"
        ) from error
    if blake3(data).digest() != seed.content_hash:
        raise RockyError(f"seed `{seed.name}` changed while it was read; run again")
    return data.decode("utf-8-sig")


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
        return _declared_columns(read_files(session, fields, [file.path for file in files]), source)
    options = {**_PARQUET, **_LITERAL, "basePath": base}
    reader = session.read.schema(readable_schema(fields)).options(**options)
    return _declared_columns(reader.parquet(*[file.path for file in files]), source)


def read_source(
    session: Any, source: SourceTable, root: Path, pinned: Pinned | None = None
) -> SourceRead:
    """A source with its declared columns, of files only those that are `pinned`, if any are.

    One that declares none has those that Spark finds. Raises SourceUnreadable when it cannot be
    found.
    """
    if not source.columns:
        source = replace(source, columns=describe_source(session, source, root))
    with source_errors(source):
        if source.format in _DEFAULTS:
            found = pinned or pin_files(session, source, root)
            return _read_source_files(session, source, found)
        return SourceRead(_declared_columns(open_source(session, source, root), source))


def open_source(session: Any, source: SourceTable, root: Path) -> Any:
    """A source that is no list of files, as it is."""
    reader = session.read.options(**source.options)
    if source.format == "table":
        return reader.table(source.path or source.name)
    if source.path is None:
        return reader.format(source.format).load()
    # An Iceberg table may be a name instead of a place; a name has no slash.
    is_place = "/" in source.path or (root / source.path).exists()
    place = source_location(source, root) if is_place else source.path
    return reader.format(source.format).load(place)


NOT_IN_CATALOGUE: Final = frozenset({"TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND"})
"""What Spark says of a table that its catalogue does not have."""


@contextmanager
def source_errors(source: SourceTable) -> Iterator[None]:
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
        elif failure.condition in NOT_IN_CATALOGUE and source.format == "table":
            said = (
                f"{said.rstrip('.')}. Where a metastore has it, name that in `[adapter.conf]`"
                ' (`"spark.sql.catalogImplementation" = "hive"` and its address), or give the'
                " source `format` and `path`"
            )
        raise SourceUnreadable(
            f"{source_label(source)} cannot be read: {hide_location(source, said)}"
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


def _declared_columns(frame: Any, source: SourceTable) -> Any:
    """The declared columns of a frame whose schema is its own. Raises SourceUnreadable."""
    present = {field.name.lower() for field in frame.schema.fields}
    missing = [field.name for field in source.columns if field.name.lower() not in present]
    if missing:
        shown = ", ".join(f"`{name}`" for name in missing)
        raise SourceUnreadable(f"{source_label(source)} does not have the declared {shown}")
    wanted = readable_schema(source.columns)
    return frame.select(
        *[
            # Declared as another type: cast under ANSI rules, so a value that does not fit stops.
            column_named(each.name).cast(each.dataType).alias(each.name, metadata=each.metadata)
            for each in wanted.fields
        ]
    )


_CANNOT_MERGE: Final = "CANNOT_MERGE_SCHEMAS"
_MERGE_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "csv": {"header": "true", "inferSchema": "true"},
    "json": {},
    "parquet": {"mergeSchema": "true"},
    "orc": {"mergeSchema": "true"},
}


def describe_source(session: Any, source: SourceTable, root: Path) -> tuple[StructField, ...]:
    """The columns of a source as Spark finds them. Raises SourceUnreadable."""
    with source_errors(source):
        if source.format not in _MERGE_OPTIONS:
            return fields_of(open_source(session, source, root))
        pinned = pin_files(session, source, root)
        options = {**_MERGE_OPTIONS[source.format], **source.options, "__globPaths__": "false"}
        if pinned.base is not None and "recursivefilelookup" not in map(str.lower, source.options):
            options["basePath"] = pinned.base
        reader = session.read.format(source.format).options(**options)
        paths = [file.path for file in pinned.files]
        try:
            found = fields_of(reader.load(paths))
            if source.format != "csv":
                return found
            texts = session.read.format("csv").options(**options | {"inferSchema": "false"})
            return _with_codes(source, found, lambda: texts.load(paths))
        except SPARK_ERRORS as error:
            if not (classify_failure(error).condition or "").startswith(_CANNOT_MERGE):
                raise
        return _widest_columns(source, reader, pinned.files)


_NUMBERS: Final = frozenset({"int", "bigint", "decimal", "double"})
"""What Spark guesses for texts of digits."""
_CODE: Final = "^[+-]?0[0-9]+$"


def _with_codes(
    source: SourceTable, found: Sequence[StructField], texts: Callable[[], Any]
) -> tuple[StructField, ...]:
    """Columns of a CSV, whole numbers with leading zeros as texts: they are codes, no numbers.

    Only where a number was guessed and nothing is declared are the values looked at again.
    """
    declared = {field.name.lower() for field in source.columns}
    guessed = [
        each for each in found if each.type.kind in _NUMBERS and each.name.lower() not in declared
    ]
    if not guessed:
        return tuple(found)
    frame = texts()
    asked = [
        f.max(column_named(each.name).rlike(_CODE)).alias(f"c{place}")
        for place, each in enumerate(guessed)
    ]
    answers = frame.agg(*asked).first()
    codes = {each.name for each, is_code in zip(guessed, answers, strict=True) if is_code}
    return tuple(
        StructField(each.name, STRING, each.nullable) if each.name in codes else each
        for each in found
    )


def _widest_columns(
    source: SourceTable, reader: Any, files: Sequence[PinnedFile]
) -> tuple[StructField, ...]:
    """The columns of files whose types differ: of each column the widest."""
    found: dict[str, StructField] = {}
    for file in files:
        for field in fields_of(reader.load([file.path])):
            before = found.setdefault(field.name.lower(), field)
            if is_lossless(before.type, field.type):
                found[field.name.lower()] = field
            elif not is_lossless(field.type, before.type):
                raise SourceUnreadable(
                    f"{source_label(source)}: its files disagree about column `{field.name}`, which"
                    f" is `{before.type}` in one and `{field.type}` in another"
                )
    return tuple(found.values())
