"""Small tables for the tests of the log: files of one column written by pyarrow, read by deltalake."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3
from deltalake import DeltaTable

from rocky.language.datatypes.types import BIGINT, StructField
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change, Committed
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, open_warehouse


class Name(NamedTuple):
    catalog: str
    schema: str
    table: str


ORDERS = Name("shop", "core", "orders")
COLUMNS = (StructField("id", BIGINT, True),)


def table_in(folder: Path, options: Mapping[str, str] | None = None) -> Table:
    return open_warehouse("warehouse", base=folder, options=options).table(ORDERS)


def place(table: Table, rows: Mapping[str, Any] | pa.Table, **values: str | None) -> DataFile:
    """Rows as a file in the table's folder, named by its bytes, not committed."""
    found = rows if isinstance(rows, pa.Table) else pa.table(dict(rows))
    sink = io.BytesIO()
    pq.write_table(found, sink)
    data = sink.getvalue()
    path = f"{blake3(data).hexdigest()}.parquet"
    table.objects.put(f"{table.prefix}/{path}", data)
    stats = json.dumps({"numRecords": found.num_rows})
    return DataFile(path, len(data), found.num_rows, stats, values, 1_700_000_000_000)


def ids(table: Table, *values: int) -> DataFile:
    return place(table, {"id": list(values)})


def replace_with(table: Table, *files: DataFile, **settings: Any) -> Committed:
    return commit(table, "REPLACE", *files, **settings)


def append(table: Table, *files: DataFile, **settings: Any) -> Committed:
    return commit(table, "APPEND", *files, **settings)


def commit(table: Table, operation: Any, *files: DataFile, **settings: Any) -> Committed:
    given = {"base": table.snapshot(), "schema": COLUMNS, "partition_columns": ()} | settings
    return table.commit(Change(operation, adds=files, **given))


def latest(table: Table) -> Snapshot:
    found = table.snapshot()
    assert found is not None
    return found


def reopened(table: Table) -> Table:
    """The same table with nothing remembered."""
    root = table.objects.location
    return open_warehouse(root.uri, base=Path(), options=root.settings).table(
        Name(*table.prefix.split("/"))
    )


def delta(table: Table, version: int | None = None) -> DeltaTable:
    location = table.objects.location
    return DeltaTable(
        location.place(table.prefix), version, storage_options=location.delta_options or None
    )


def read_ids(table: Table, version: int | None = None) -> list[int]:
    """What an independent reader finds."""
    return sorted(delta(table, version).to_pyarrow_table()["id"].to_pylist())


def shape(columns: tuple[StructField, ...]) -> list[tuple[str, str, bool]]:
    """Columns as values: fields are compared by identity."""
    return [(column.name, str(column.type), column.nullable) for column in columns]


def plain(snapshot: Snapshot) -> Snapshot:
    """A snapshot that can be compared."""
    return replace(snapshot, schema=shape(snapshot.schema))


def log_file(table: Table, name: str) -> Path:
    path = table.objects.local_path(f"{table.prefix}/_delta_log/{name}")
    assert path is not None
    return path


def run_script(source: str) -> str:
    """What a script prints that runs in a process of its own, which may change its user."""
    here = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", source]
    return subprocess.run(command, env=here, stdout=subprocess.PIPE, text=True, check=True).stdout
