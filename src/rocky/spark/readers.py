"""Readers: pinned files, sources, seeds and literal rows as DataFrames with the declared columns.

A schema is always given, so Spark never guesses and never looks into files to find out. A CSV is
read by position, so its header is checked against the declared names: a reordered file must not be
read as something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Final

from pyspark.errors import PySparkException

from rocky.datatypes.types import StructField
from rocky.errors import SourceUnreadable
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.spark.literal_rows import literal_rows
from rocky.spark.schemas import readable_schema, spark_schema

# Bytes read through vectored reads are not counted, and a model's cost is computed from them.
_PARQUET: Final[Mapping[str, str]] = {"parquet.hadoop.vectored.io.enabled": "false"}
_CSV: Final[Mapping[str, str]] = {
    "header": "true",
    # A row that does not fit its types stops the model; it is never read as nulls.
    "mode": "FAILFAST",
    # The names in the header must be those that were declared, in that order.
    "enforceSchema": "false",
}
_JSON: Final[Mapping[str, str]] = {"mode": "FAILFAST"}
_DEFAULTS: Final = {"csv": _CSV, "json": _JSON, "parquet": _PARQUET}
_FILES: Final = ("csv", "json", "parquet", "orc")


@dataclass(frozen=True, slots=True)
class SourceRead:
    """A source as it was found: its frame, and its files as (path, size, time in ms) if known."""

    frame: Any
    files: tuple[tuple[str, int, int], ...] = ()
    version: str | None = None

    @property
    def bytes(self) -> int | None:
        return sum(size for _, size, _ in self.files) if self.files else None


def read_files(session: Any, fields: Sequence[StructField], uris: Sequence[str]) -> Any:
    """Exactly these Parquet files, with these columns; columns a file lacks are null."""
    schema = readable_schema(fields)
    if not uris:
        return session.createDataFrame([], schema)
    return session.read.schema(schema).options(**_PARQUET).parquet(*uris)


def read_source(session: Any, source: SourceTable, root: Path) -> SourceRead:
    """A source with its declared columns. Raises SourceUnreadable when it cannot be found."""
    try:
        if source.format in _FILES:
            return _read_files_of(session, source, root)
        if source.format == "table":
            frame = session.read.options(**source.options).table(source.path or source.name)
        else:
            reader = session.read.format(source.format).options(**source.options)
            frame = reader.load(_place(source.path, root)) if source.path else reader.load()
        return SourceRead(_declared(frame, source))
    except PySparkException as error:
        said = str(error).strip().splitlines()[0]
        raise SourceUnreadable(f"{_named(source)} cannot be read: {said}") from error


def read_seed(session: Any, seed: SeedTable, root: Path) -> Any:
    """A seed's CSV with its columns; an empty cell is a null."""
    options = {**_CSV, "sep": seed.delimiter, "multiLine": "true", "escape": '"'}
    reader = session.read.schema(readable_schema(seed.columns)).options(**options)
    return reader.csv(_uri(root / seed.path))


def read_rows(
    session: Any, fields: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
) -> Any:
    """Literal rows; absent columns are null, and texts are read as the column's type."""
    loose = readable_schema(fields)
    if not rows:
        return session.createDataFrame([], loose)
    return literal_rows(session, fields, rows, loose)


def _read_files_of(session: Any, source: SourceTable, root: Path) -> SourceRead:
    place = _place(source.path, root)
    files = _files_at(place, source)
    options = {**_DEFAULTS.get(source.format, {}), **source.options}
    reader = session.read.schema(readable_schema(source.columns)).options(**options)
    paths = [_uri(Path(path)) for path, _, _ in files] if files else [place]
    return SourceRead(reader.format(source.format).load(paths), files)


def _place(path: str | None, root: Path) -> str:
    """A URI as it is; a path from the project's folder on."""
    text = path or ""
    return text if "://" in text else str(root.absolute() / text)


def _files_at(place: str, source: SourceTable) -> tuple[tuple[str, int, int], ...]:
    """The local files of a source, sorted; none when Spark alone can look there."""
    if "://" in place:
        return ()
    names = sorted(glob(place, recursive=True)) if has_magic(place) else [place]
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            found += [each for each in sorted(path.rglob("*")) if _is_data(each, path)]
        elif path.exists():
            found.append(path)
    if not found:
        what = "no file matches" if has_magic(place) else "there is no"
        raise SourceUnreadable(f"{_named(source)}: {what} `{source.path}`")
    return tuple(
        (str(path), path.stat().st_size, path.stat().st_mtime_ns // 1_000_000) for path in found
    )


def _is_data(path: Path, folder: Path) -> bool:
    """Whether Spark would read a file: names with a dot or an underscore in front are hidden."""
    below = path.relative_to(folder).parts
    return path.is_file() and not any(part.startswith((".", "_")) for part in below)


def _declared(frame: Any, source: SourceTable) -> Any:
    """The declared columns of a frame whose schema is its own. Raises SourceUnreadable."""
    present = {field.name.lower() for field in frame.schema.fields}
    for field in source.columns:
        if field.name.lower() not in present:
            raise SourceUnreadable(f"{_named(source)} has no column `{field.name}`")
    wanted = spark_schema(source.columns)
    return frame.select(
        *[frame[f"`{each.name}`"].cast(each.dataType).alias(each.name) for each in wanted.fields]
    )


def _named(source: SourceTable) -> str:
    return f"source `{source.name}` (declared in `{source.file}`)"


def _uri(path: Path) -> str:
    """A path as Hadoop reads it: what is not a letter or a digit may not be taken for a pattern."""
    return path.absolute().as_uri()
