"""A process killed at any point leaves old or new tables, and the next run finishes the work."""

import signal
import subprocess
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from rocky.ledger import open_history_reader
from tests.run.runs import verify
from tests.spark.projects import build, errors_of, table_folder, write_files, write_rows

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.sampled]

CRASH = Path(__file__).with_name("crash.py")
SCHEMA = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("note", pa.string())])
SOURCE = """\
[[source]]
name = "raw.events"
format = "parquet"
path = "data"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "at", type = "timestamp" },
  { name = "note", type = "string" },
]
"""
MODELS = {
    "whole": "SELECT id, note FROM raw.events\n",
    "appended": """\
---toml
[strategy]
type = "incremental"
timestamp_column = "at"
---
SELECT id, at, note FROM raw.events
""",
    "merged": """\
---toml
[strategy]
type = "merge"
unique_key = ["id"]
---
SELECT id, note FROM raw.events
""",
}


def put(root: Path, first: int, count: int) -> None:
    rows = [
        {"id": each, "at": (1_700_000_000 + each) * 1_000_000, "note": f"from {first}"}
        for each in range(first, first + count)
    ]
    write_rows(root / "data" / f"{first}.parquet", SCHEMA, rows)


def ids(root: Path, name: str) -> list[int]:
    table = deltalake.DeltaTable(str(table_folder(root, name)))
    return sorted(table.to_pyarrow_table()["id"].to_pylist())


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("whole", "staged"),
        ("appended", "placed"),
        ("merged", "committed"),
    ],
)
def test_a_killed_run_loses_and_doubles_nothing(tmp_path, spark, name, point):
    files = {"sources/raw.toml": SOURCE, f"models/{name}.sql": MODELS[name]}
    root = write_files(tmp_path, files)
    put(root, 0, 10)
    build(root, spark)
    if name == "merged":
        # What is merged holds each key once.
        (root / "data" / "0.parquet").unlink()
    put(root, 5 if name == "merged" else 10, 10)

    killed = subprocess.run(
        [sys.executable, str(CRASH), str(root), point],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert -signal.SIGKILL == killed.returncode, killed.stderr
    new = list(range(15 if name == "merged" else 20))
    assert (new if point == "committed" else list(range(10))) == ids(root, name)
    reader = open_history_reader(root / ".rocky-state.db")
    assert reader is not None
    with reader:
        assert reader.runs(1)[0].died
    report = build(root, spark)
    assert {} == errors_of(report)
    assert new == ids(root, name)
    assert [] == verify(root)
