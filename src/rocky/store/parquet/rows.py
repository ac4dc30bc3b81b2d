"""Rows of a snapshot without a JVM, as Python values: what `rocky show` prints.

A file may be older than the table's schema: a column it does not have is null in all its rows, and
one that has been widened since is widened as it is read. Intervals are stored as plain numbers
(microseconds, or months), CHAR and VARCHAR as strings, and a variant as a struct of two binaries:
a reader without Spark sees these.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from obstore.exceptions import BaseError

from rocky.errors import StoreUnreadable
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.filters import Filter, columns_in
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import Snapshot
from rocky.store.objects import open_object
from rocky.store.parquet.filters import mask_of
from rocky.store.warehouse import Table

_ATOMS: Final[dict[str, Any]] = {
    "void": pa.null(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "string": pa.string(),
    "char": pa.string(),
    "varchar": pa.string(),
    "interval_dt": pa.int64(),
    "interval_ym": pa.int32(),
    "variant": pa.struct(
        [pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())]
    ),
}


def arrow_schema(fields: Sequence[StructField]) -> Any:
    """The Arrow schema of a table's columns."""
    return pa.schema([_field(field) for field in fields])


def arrow_type(type: DataType) -> Any:  # noqa: A002 - the noun of `datatypes`
    """The Arrow type that a column of this type is stored as."""
    if isinstance(type, t.DecimalType):
        return pa.decimal128(type.precision, type.scale)
    if isinstance(type, t.StructType):
        return pa.struct([_field(field) for field in type.fields])
    if isinstance(type, t.ArrayType):
        return pa.list_(pa.field("element", arrow_type(type.element), type.contains_null))
    if isinstance(type, t.MapType):
        value = pa.field("value", arrow_type(type.value), type.contains_null)
        return pa.map_(arrow_type(type.key), value)
    atom = _ATOMS.get(type.kind)
    if atom is None:
        raise StoreUnreadable(f"a column of type `{type}` cannot be read without Spark")
    return atom


def _field(field: StructField) -> Any:
    return pa.field(field.name, arrow_type(field.type), field.nullable)


BATCH: Final = 65_536


def load_rows(
    table: Table,
    snapshot: Snapshot,
    limit: int,
    columns: Sequence[StructField] | None = None,
    condition: Filter | None = None,
) -> list[tuple[Any, ...]]:
    """The first rows of a snapshot, in the order of its files.

    Of all columns or of some; with a `condition`, which must be one that `can_filter` accepts, the
    first rows for which it holds. Only the columns that are needed are read.

    Timestamps are in UTC, a map is a list of pairs, an interval a number of microseconds or months.
    A column with a date or a time that Python cannot hold comes as ISO texts, one with text that is
    not UTF-8 as bytes. Raises `StoreUnreadable`, naming table and file, when a file is missing or
    damaged.
    """
    chosen = tuple(snapshot.schema if columns is None else columns)
    schema = arrow_schema(chosen)
    kept = _Kept(snapshot.schema, condition)
    needed = {field.name for field in chosen} | kept.names
    rows: list[tuple[Any, ...]] = []
    for file in snapshot.files:
        for batch in _batches(table, file, needed, kept, limit - len(rows)):
            found = [column_values(_column(batch, field)) for field in schema]
            rows += zip(*found, strict=True) if found else [()] * batch.num_rows
    return rows


def load_batches(
    table: Table, snapshot: Snapshot, columns: Sequence[StructField]
) -> Iterator[tuple[list[Any], ...]]:
    """All rows of a snapshot, a part of them at a time, each as its columns: as `load_rows` does.

    Raises `StoreUnreadable`.
    """
    schema, kept = arrow_schema(columns), _Kept(snapshot.schema, None)
    needed = {field.name for field in columns}
    for file in snapshot.files:
        for batch in _batches(table, file, needed, kept, sys.maxsize):
            yield tuple(column_values(_column(batch, field)) for field in schema)


def load_table(table: Table, file: DataFile, columns: Sequence[StructField]) -> Any:
    """All rows of a file as an Arrow table of these columns. Raises `StoreUnreadable`."""
    schema, kept = arrow_schema(columns), _Kept(columns, None)
    fields = [field.with_nullable(True) for field in schema]
    batches = _batches(table, file, set(schema.names), kept, sys.maxsize)
    return pa.Table.from_batches(
        [
            pa.RecordBatch.from_arrays(
                [_column(batch, each) for each in fields], schema=pa.schema(fields)
            )
            for batch in batches
        ],
        schema=pa.schema(fields),
    )


class _Kept:
    """Which rows of a batch are wanted."""

    def __init__(self, schema: Sequence[StructField], condition: Filter | None) -> None:
        self._condition = condition
        self._types = {field.name.lower(): field.type for field in schema}
        asked = columns_in(condition) if condition is not None else frozenset()
        self._fields = {
            field.name.lower(): _field(field) for field in schema if field.name.lower() in asked
        }

    @property
    def names(self) -> set[str]:
        return {field.name for field in self._fields.values()}

    def of(self, batch: Any) -> Any:
        if self._condition is None:
            return batch
        mask = mask_of(self._condition, self._types, lambda key: _column(batch, self._fields[key]))
        return batch.filter(mask)


def _batches(
    table: Table, file: DataFile, needed: set[str], kept: _Kept, limit: int
) -> Iterator[Any]:
    """At most `limit` rows of a file."""
    if limit <= 0:
        return
    try:
        place = table.place_of(file)
        with open_object(place.objects, place.path) as opened:
            parquet = pq.ParquetFile(opened)
            size = BATCH if kept.names else min(limit, BATCH)
            names = [name for name in parquet.schema_arrow.names if name in needed]
            for batch in parquet.iter_batches(batch_size=size, columns=names):
                found = kept.of(batch)
                yield found.slice(0, limit)
                limit -= found.num_rows
                if limit <= 0:
                    return
    except FileNotFoundError as error:
        raise StoreUnreadable(f"`{table.name}` lacks its file `{file.path}`") from error
    except (pa.ArrowException, BaseError, OSError) as error:
        raise StoreUnreadable(
            f"file `{file.path}` of `{table.name}` cannot be read: {error}"
        ) from error


def _column(batch: Any, field: Any) -> Any:
    at = batch.schema.get_field_index(field.name)
    column = pa.nulls(batch.num_rows) if at < 0 else batch.column(at)
    # Also finds the fields of structs by name, and makes those that are missing null.
    return column if column.type.equals(field.type) else column.cast(field.type)


def column_values(column: Any) -> list[Any]:
    """The values of an Arrow column; those that Python cannot hold come as `load_rows` says."""
    try:
        return list(column.to_pylist())
    except OverflowError:
        return list(
            column.cast(_with_type(column.type, pa.types.is_temporal, pa.string())).to_pylist()
        )
    except UnicodeDecodeError:
        return list(
            column.cast(_with_type(column.type, pa.types.is_string, pa.binary())).to_pylist()
        )


def _with_type(type: Any, held: Callable[[Any], bool], other: Any) -> Any:  # noqa: A002 - the noun of Arrow's fields
    """A type with `other` in place of the types that `held` names."""
    if held(type):
        return other
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_with_type(field.type, held, other)) for field in type])
    if pa.types.is_list(type):
        return pa.list_(_with_type(type.value_type, held, other))
    if pa.types.is_map(type):
        key = _with_type(type.key_type, held, other)
        return pa.map_(key, _with_type(type.item_type, held, other))
    return type
