"""Parquet and Delta made by others' writers, for the tests of this folder."""

import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3
from deltalake import Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

from rocky.language.datatypes.types import StructField
from rocky.store.data_file import TAIL, DataFile, footer_start
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.footer import Footer, parse_footer
from rocky.store.parquet.rows import arrow_schema
from rocky.store.parquet.staging import place_files
from rocky.store.parquet.statistics import stats_of
from rocky.store.warehouse import Table, open_warehouse

Rows = Sequence[Mapping[str, Any]]


def parquet_bytes(rows: Rows, fields: Sequence[StructField], **options: Any) -> bytes:
    table = pa.Table.from_pylist(list(rows), schema=arrow_schema(fields))
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False, **options)
    return sink.getvalue()


def footer_of(data: bytes) -> Footer:
    return parse_footer(data[footer_start(len(data), data[-TAIL:]) : -TAIL])


def write_delta(folder: Path, fields: Sequence[StructField], parts: Sequence[bytes]) -> None:
    """A Delta table of Parquet files with our statistics, committed by delta-rs."""
    adds = []
    for data in parts:
        name = f"{blake3(data).hexdigest()}.parquet"
        (folder / name).write_bytes(data)
        adds.append(AddAction(name, len(data), {}, 0, True, stats_of(footer_of(data), fields)))
    create_table_with_add_actions(str(folder), Schema.from_arrow(arrow_schema(fields)), adds)


class Named(NamedTuple):
    """The name of a table."""

    catalog: str = "shop"
    schema: str = "sales"
    table: str = "orders"


def open_table(folder: Path, **options: str) -> Table:
    return open_warehouse(str(folder), base=Path(), options=options).table(Named())


def stage(table: Table, files: Mapping[str, bytes]) -> str:
    """A staging folder with files in it, as Spark leaves one behind."""
    staging = table.new_staging()
    for name, data in {"_SUCCESS": b"", **files}.items():
        table.objects.put(f"{table.prefix}/{staging}/{name}", data)
    return staging


def placed(
    table: Table,
    fields: Sequence[StructField],
    *parts: Rows,
    kept_paths: frozenset[str] = frozenset(),
    partition_columns: Sequence[str] = (),
) -> tuple[DataFile, ...]:
    """Rows as files of the table, not yet committed; one file a part."""
    staged = {}
    for number, rows in enumerate(parts):
        folders = [
            f"__part_{at}={_folder_value(rows[0][column])}/"
            for at, column in enumerate(partition_columns)
        ]
        staged[f"{''.join(folders)}part-{number:05}.parquet"] = parquet_bytes(rows, fields)
    return place_files(table, stage(table, staged), fields, partition_columns, kept_paths)


def snapshot_of(
    version: int,
    fields: Sequence[StructField],
    files: Iterable[DataFile],
    partition_columns: Sequence[str] = (),
) -> Snapshot:
    """A snapshot as the log would tell it."""
    return Snapshot(
        version=version,
        schema=tuple(fields),
        partition_columns=tuple(partition_columns),
        files=tuple(sorted(files, key=attrgetter("path"))),
        configuration={},
        transactions={},
        table_id="5b6c7c1e-8f2e-4a6e-9f0c-0e0d3c1f2a11",
        timestamp_ms=0,
    )


def _folder_value(value: Any) -> str:
    """A partition value as Spark writes it; none of those used here needs an escape."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return str(value.replace(tzinfo=None))
    return "__HIVE_DEFAULT_PARTITION__" if value is None else str(value)
