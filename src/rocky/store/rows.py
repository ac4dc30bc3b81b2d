"""Rows of a snapshot without a JVM, as Python values: what `rocky show` prints.

A file may be older than the table's schema: a column it does not have is null in all its rows, and
one that has been widened since is widened as it is read.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from obstore.exceptions import BaseError

from rocky.errors import StoreUnreadable
from rocky.store.arrow_types import arrow_schema
from rocky.store.files import DataFile
from rocky.store.opening import open_object
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table

BATCH: Final = 65_536


def load_rows(table: Table, snapshot: Snapshot, limit: int) -> list[tuple[Any, ...]]:
    """The first rows of a snapshot, in the order of its files.

    Timestamps are in UTC, a map is a list of pairs, an interval a number of microseconds or months.
    A column with a date or a time that Python cannot hold comes as ISO texts, one with text that is
    not UTF-8 as bytes. Raises `StoreUnreadable`, naming table and file, when a file is missing or
    damaged.
    """
    schema = arrow_schema(snapshot.schema)
    rows: list[tuple[Any, ...]] = []
    for file in snapshot.files:
        for batch in _batches(table, file, limit - len(rows)):
            columns = [_values(_column(batch, field)) for field in schema]
            rows += zip(*columns, strict=True)
    return rows


def count_rows(snapshot: Snapshot) -> int:
    """How many rows a snapshot has. No file is opened: the log counts them."""
    return snapshot.rows


def _batches(table: Table, file: DataFile, limit: int) -> Iterator[Any]:
    """At most `limit` rows of a file."""
    if limit <= 0:
        return
    try:
        place = table.place_of(file)
        with open_object(place.objects, place.path) as opened:
            for batch in pq.ParquetFile(opened).iter_batches(batch_size=min(limit, BATCH)):
                yield batch.slice(0, limit)
                limit -= batch.num_rows
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


def _values(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except OverflowError:
        return list(
            column.cast(_replaced(column.type, pa.types.is_temporal, pa.string())).to_pylist()
        )
    except UnicodeDecodeError:
        return list(
            column.cast(_replaced(column.type, pa.types.is_string, pa.binary())).to_pylist()
        )


def _replaced(type: Any, held: Callable[[Any], bool], other: Any) -> Any:  # noqa: A002 - the noun of Arrow's fields
    """A type with `other` in place of the types that `held` names."""
    if held(type):
        return other
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_replaced(field.type, held, other)) for field in type])
    if pa.types.is_list(type):
        return pa.list_(_replaced(type.value_type, held, other))
    if pa.types.is_map(type):
        key = _replaced(type.key_type, held, other)
        return pa.map_(key, _replaced(type.item_type, held, other))
    return type
