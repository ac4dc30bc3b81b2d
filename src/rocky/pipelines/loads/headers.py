"""Headers: files of one table put together so that all of a group have the same columns.

Spark reads a CSV by position and a Parquet file by its own types, so files that differ in their
columns are read apart, and put together by the names of their columns.
"""

import csv
import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.errors import SourceUnreadable
from rocky.pipelines.loads.files import FileFormat, FoundFile
from rocky.project.pipelines import LoadOptions

_LONGEST_CELL: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that are read together. `names` are the columns of each, where the files say so."""

    format: FileFormat
    files: tuple[FoundFile, ...]
    names: tuple[str, ...] | None


def group_files(files: Iterable[FoundFile], options: LoadOptions) -> list[FileGroup]:
    """Files by their columns, in order. Raises SourceUnreadable for one that has no use."""
    groups: dict[tuple[str, ...], list[FoundFile]] = {}
    names: dict[tuple[str, ...], tuple[str, ...] | None] = {}
    for file in files:
        key, columns = _columns_of(file, options)
        groups.setdefault(key, []).append(file)
        names[key] = columns
    return [FileGroup(each[0].format, tuple(each), names[key]) for key, each in groups.items()]


def _columns_of(
    file: FoundFile, options: LoadOptions
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """What tells files apart, and the names of the columns if the file has them."""
    match file.format:
        case "json":
            return ("json",), None
        case "parquet":
            schema = _read_schema(file)
            described = tuple(f"{each.name} {each.type}" for each in schema)
            return ("parquet", *described), tuple(each.name for each in schema)
        case "csv":
            cells = _read_first(file, options.csv_delimiter)
            if not options.csv_has_header:
                return ("csv", str(len(cells))), None
            _check_names(file, cells)
            return ("csv", *(each.lower() for each in cells)), cells


def _read_schema(file: FoundFile) -> Any:
    try:
        return pq.read_schema(file.place)
    except (OSError, pa.ArrowException) as error:
        raise SourceUnreadable(f"`{file.shown}` is not a Parquet file: {error}") from error


def _read_first(file: FoundFile, delimiter: str) -> tuple[str, ...]:
    """The cells of the first line of a CSV."""
    csv.field_size_limit(_LONGEST_CELL)
    try:
        with _open(file) as text:
            return tuple(next(csv.reader(text, delimiter=delimiter), ()))
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise SourceUnreadable(f"the first line of `{file.shown}` cannot be read: {error}") from (
            error
        )


def _open(file: FoundFile) -> TextIO:
    if file.place.lower().endswith(".gz"):
        return gzip.open(file.place, "rt", encoding="utf-8-sig", newline="")
    return Path(file.place).open(encoding="utf-8-sig", newline="")


def _check_names(file: FoundFile, names: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name.strip():
            raise SourceUnreadable(f"the header of `{file.shown}` has a column without a name")
        if name.lower() in seen:
            raise SourceUnreadable(f"the header of `{file.shown}` names column `{name}` twice")
        seen.add(name.lower())
