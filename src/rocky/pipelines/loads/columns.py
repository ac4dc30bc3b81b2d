"""The columns of a load: those of its files, and how they become those of the table.

Spark reads a CSV by position and a Parquet file by its own types, so files that differ in their
columns are read apart, and put together by the names of their columns. A CSV and JSON have text and
no types, so they are read as the types that the table has. Columns may be added and types may
widen; a file without a column of the table fails the load, because a column that was renamed would
be lost without a word. In JSON a key that is absent is a null.
"""

import csv
import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.errors import SourceUnreadable
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.types import NULL, STRING, DataType, StructField
from rocky.language.names import quote_name
from rocky.ledger.pipeline_records import DriftRecord
from rocky.pipelines.drift.projection import type_sql
from rocky.pipelines.loads.files import FileFormat, FoundFile
from rocky.project.configuration.pipelines import LoadOptions
from rocky.project.contracts import Contract

_LONGEST_CELL: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileGroup:
    """Files that are read together. `names` are the columns of each, where the files say so."""

    format: FileFormat
    files: tuple[FoundFile, ...]
    names: tuple[str, ...] | None


def group_files(files: Iterable[FoundFile], options: LoadOptions) -> list[FileGroup]:
    """Files by their columns, in order. Raises SourceUnreadable for one that cannot be read."""
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


_TYPED_FORMAT: Final = "parquet"
_ADVICE: Final = "fix the file, or load all files again with `--full-refresh`"


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """A group of files and the columns that Spark finds in it."""

    group: FileGroup
    columns: tuple[StructField, ...]

    @property
    def by_key(self) -> Mapping[str, StructField]:
        return {each.name.lower(): each for each in self.columns}


@dataclass(frozen=True, slots=True)
class GroupFit:
    """How one group is read and selected: `columns` are declared, `select_list` is over them."""

    columns: tuple[StructField, ...]
    select_list: str


@dataclass(frozen=True, slots=True)
class TableFit:
    """How a load fits its table. `fits` go with the groups, `drift` says what changes.

    `names` are the columns that the table will have.
    """

    fits: tuple[GroupFit, ...]
    drift: tuple[DriftRecord, ...]
    names: tuple[str, ...] = ()


def fit_columns(
    given: Sequence[GroupColumns], table: Sequence[StructField], contract: Contract | None
) -> TableFit:
    """Fit files to a table that has these columns. Raises SourceUnreadable where they do not."""
    for each in given:
        _check_complete(each, table)
    before = {each.name.lower(): each for each in table}
    promised = _Promised.of(contract)
    names = {key: each.name for key, each in before.items()}
    for each in given:
        for field in each.columns:
            names.setdefault(field.name.lower(), promised.spell(field.name))
    wanted: list[StructField] = []
    for key, name in names.items():
        kind = _type_of(name, given, before.get(key), promised.types.get(key))
        wanted.append(StructField(name, kind, key not in promised.required))
    drift = tuple(_drift(each, before.get(each.name.lower())) for each in wanted) if before else ()
    return TableFit(
        tuple(_fit_group(each, wanted) for each in given),
        tuple(each for each in drift if each is not None),
        tuple(each.name for each in wanted),
    )


@dataclass(frozen=True, slots=True)
class _Promised:
    """What a contract says of columns, by their keys."""

    names: Mapping[str, str]
    types: Mapping[str, DataType]
    required: frozenset[str]

    @classmethod
    def of(cls, contract: Contract | None) -> "_Promised":
        columns = contract.columns if contract is not None else ()
        return cls(
            {each.name.lower(): each.name for each in columns},
            {each.name.lower(): each.type for each in columns if each.type is not None},
            frozenset(each.name.lower() for each in columns if each.nullable is False),
        )

    def spell(self, name: str) -> str:
        return self.names.get(name.lower(), name)


def _check_complete(given: GroupColumns, table: Sequence[StructField]) -> None:
    if given.group.format == "json":
        return
    present = given.by_key
    missing = [each.name for each in table if each.name.lower() not in present]
    if missing:
        file, more = given.group.files[0].shown, len(given.group.files) - 1
        others = f" (and {more} more like it)" if more else ""
        listed = ", ".join(f"`{name}`" for name in missing)
        raise SourceUnreadable(
            f"`{file}`{others} does not have {listed}, which the table has; {_ADVICE}"
        )


def _type_of(
    name: str, given: Sequence[GroupColumns], before: StructField | None, promised: DataType | None
) -> DataType:
    """The type that a column has after the load."""
    found = before.type if before is not None else promised
    fixed = found is not None
    for each in given:
        field = each.by_key.get(name.lower())
        if field is None:
            continue
        kind = STRING if field.type is NULL else field.type
        if found is None or (is_lossless(found, kind) and before is not None):
            found = kind
        elif not is_lossless(kind, found):
            found = _reconcile(name, each, (found, kind), fixed=fixed)
    return found or STRING


def _reconcile(
    name: str, given: GroupColumns, kinds: tuple[DataType, DataType], *, fixed: bool
) -> DataType:
    """The type of a column of which files differ. Raises SourceUnreadable."""
    found, kind = kinds
    if not fixed and is_lossless(found, kind):
        return kind
    if given.group.format != _TYPED_FORMAT:
        # Text is read as what the column is; what cannot be read so stops the load. Files of a new
        # table that disagree have nothing but text in common.
        return found if fixed else STRING
    raise SourceUnreadable(
        f"column `{name}` is `{kind}` in `{given.group.files[0].shown}`, which is not always a"
        f" `{found}`; {_ADVICE}"
    )


def _fit_group(given: GroupColumns, wanted: Sequence[StructField]) -> GroupFit:
    """How a group is read: text as the wanted types, anything else as it is and cast."""
    present, typed = given.by_key, given.group.format == _TYPED_FORMAT
    targets = {each.name.lower(): each for each in wanted}
    declared = tuple(
        StructField(
            each.name,
            each.type if typed else targets[each.name.lower()].type,
            targets[each.name.lower()].nullable,
        )
        for each in given.columns
    )
    parts = []
    for field in wanted:
        found = present.get(field.name.lower())
        name, kind = quote_name(field.name), type_sql(field.type)
        if found is None:
            parts.append(f"CAST(NULL AS {kind}) AS {name}")
        elif typed and found.type is not field.type:
            parts.append(f"CAST({quote_name(found.name)} AS {kind}) AS {name}")
        else:
            parts.append(f"{quote_name(found.name)} AS {name}")
    return GroupFit(declared, ", ".join(parts))


def _drift(field: StructField, before: StructField | None) -> DriftRecord | None:
    if before is None:
        return DriftRecord(field.name, "add", "add_column", None, field.type.text)
    if before.type is not field.type:
        return DriftRecord(field.name, "widen", "widen_column", before.type.text, field.type.text)
    return None
