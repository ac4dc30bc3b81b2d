"""Maintenance by Spark itself: what is compacted comes out as it was, and only old rows go."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable

import rocky
from tests.run.runs import verify
from tests.spark.projects import table_folder, write_files, write_rows

pytestmark = pytest.mark.spark

SOURCE = """\
[[source]]
name = "raw.events"
format = "parquet"
path = "data"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "day", type = "date" },
  { name = "at", type = "timestamp" },
  { name = "tags", type = "map<string,string>" },
  { name = "parts", type = "array<struct<price:decimal(10,2),gone:double>>" },
]
"""
TYPES = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("tags", pa.map_(pa.string(), pa.string())),
        ("parts", pa.list_(pa.struct([("price", pa.decimal128(10, 2)), ("gone", pa.float64())]))),
    ]
)
SIDECAR = """\
[strategy]
type = "incremental"
timestamp_column = "id"

[format_options]
partition_by = ["day"]
"""


def write_events(root, first, last):
    rows = [
        {
            "id": n,
            "day": None if n % 5 == 0 else 20_000 + n % 2,
            "at": n * 1_000_000 + 7,
            "tags": [("n", str(n))],
            "parts": [{"price": None, "gone": -0.0}] * (n % 3),
        }
        for n in range(first, last)
    ]
    write_rows(root / f"data/{first}.parquet", TYPES, rows)


def rows_of(folder):
    found = DeltaTable(folder).to_pyarrow_table().to_pylist()
    return sorted(found, key=lambda row: row["id"])


def test_a_partitioned_table_of_nested_values_is_compacted_and_reused(tmp_path, spark):
    files = {
        "sources/raw.toml": SOURCE,
        "models/events.sql": "SELECT id, day, at, tags, parts FROM raw.events",
        "models/events.toml": SIDECAR,
        "models/totals.sql": "SELECT day, count(*) AS n FROM events GROUP BY day",
        "models/labels.sql": "SELECT id, tags FROM events",
    }
    project = rocky.open(write_files(tmp_path, files), spark=spark)
    for number in range(3):
        write_events(tmp_path, number * 10, number * 10 + 10)
        assert 0 == project.run().exit_code
    added = "CASE WHEN id > 0 THEN 'new' END AS source"
    files["models/events.sql"] = f"SELECT id, day, at, tags, parts, {added} FROM raw.events"
    write_files(tmp_path, files)
    write_events(tmp_path, 30, 40)
    assert 0 == project.run().exit_code
    folder = table_folder(tmp_path, "events")
    before, delta = rows_of(folder), DeltaTable(folder)
    assert 12 == len(delta.file_uris())

    (found,) = project.compact().tables

    assert ("compacted", 12, 3) == (found.status, found.files_before, found.files_after)
    after = DeltaTable(folder)
    assert (before, delta.version() + 1) == (rows_of(folder), after.version())
    assert 3 == len(after.file_uris())
    assert [] == verify(tmp_path)
    again = project.run().run
    # The hash of rows does not tell the order in a map, so that readers of one are built again.
    assert {"events": "reused", "totals": "reused", "labels": "success"} == {
        each.step.name: each.execution.status.value for each in again.result.outcomes
    }
    assert [] == verify(tmp_path)
    replayed = project.replay(project.history().runs[1].run_id, execute=True)
    assert {"events": "row_exact"} == {each.model: each.verdict.value for each in replayed.models}


def test_old_rows_go_by_the_bounds_of_files_and_by_the_column(tmp_path, spark):
    """One file is old as a whole, one in part, one not at all; a row without a time stays."""
    now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    columns = '{ name = "id", type = "bigint" }, { name = "at", type = "timestamp" }'
    files = {
        "sources/raw.toml": (
            '[[source]]\nname = "raw.visits"\nformat = "parquet"\npath = "data"\n'
            f"columns = [ {columns} ]\n"
        ),
        "models/visits.sql": "SELECT id, at FROM raw.visits",
        "models/visits.toml": (
            'retention = "10d"\n[strategy]\ntype = "incremental"\ntimestamp_column = "at"\n'
        ),
        "models/totals.sql": "SELECT count(*) AS n FROM visits",
    }
    project = rocky.open(write_files(tmp_path, files), spark=spark)
    types = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    edge = now - timedelta(days=10)
    batches = [
        [(1, edge - timedelta(days=5)), (2, edge - timedelta(days=4)), (3, None)],
        [(4, edge - timedelta(days=3)), (5, edge - timedelta(days=2))],
        [(6, edge - timedelta(microseconds=1)), (7, edge)],
        [(8, edge + timedelta(days=1))],
    ]
    for number, batch in enumerate(batches):
        rows = [{"id": id_, "at": at} for id_, at in batch]
        write_rows(tmp_path / f"data/{number}.parquet", types, rows)
        assert 0 == project.run().exit_code
    folder = table_folder(tmp_path, "visits")

    (foreseen,) = project.retention(dry_run=True).tables
    (found,) = project.retention().tables

    assert (2, 7) == (foreseen.certain, foreseen.possible)
    assert ("expired", 5) == (found.status, found.expired)
    assert [3, 7, 8] == [row["id"] for row in rows_of(folder)]
    assert [] == verify(tmp_path)
    again = {
        each.step.name: each.execution.status.value for each in project.run().run.result.outcomes
    }
    assert {"visits": "success", "totals": "success"} == again
    assert [3, 7, 8] == [row["id"] for row in rows_of(folder)]
    assert "unchanged" == project.retention().tables[0].status
    assert [{"n": 3}] == DeltaTable(table_folder(tmp_path, "totals")).to_pyarrow_table().to_pylist()
    assert [] == verify(tmp_path)
