"""Loads and snapshots by Spark itself: text, types and histories are what a reader expects."""

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from rocky.compiler.passes import compile_project
from rocky.pipelines.pipeline_run import run_pipeline
from rocky.plan.request import RunRequest
from rocky.project import load_project
from rocky.run.prepare.caller import Caller
from tests.run.runs import WHO, verify
from tests.spark.projects import write_files, write_rows

pytestmark = pytest.mark.spark

CONFIG = """
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.files]
type = "load"
source_dir = "in"
target = { catalog = "raw", schema = "files", table = "orders" }
options = { csv_delimiter = ";" }

[pipeline.history]
type = "snapshot"
unique_key = ["id"]
updated_at = "day"
null_updated_at = "run_time"
source = { catalog = "raw", schema = "files", table = "orders" }
target = { catalog = "raw", schema = "files", table = "orders_history" }
"""


def run(root, spark, name):
    compilation = compile_project(load_project(root, env={}), jobs=1, cache=False)
    caller = Caller(root / ".rocky-state.db", WHO, {}, spark=spark)
    report = run_pipeline(compilation, name, RunRequest(parallel=1), caller)
    assert [] == [each.execution.error for each in report.run.outcomes if each.execution.error]
    return report


def rows(root, table, *names):
    found = DeltaTable(root / "warehouse/raw/files" / table).to_pyarrow_table().to_pylist()
    return sorted(tuple(str(row[name]) for name in names) for row in found)


def test_files_are_loaded_and_their_table_is_followed(tmp_path, spark):
    first = "id;code;day\n1;A7;2026-05-01\n"
    write_files(tmp_path, {"rocky.toml": CONFIG, "in/one.csv": first})
    run(tmp_path, spark, "files")
    second = "ID;day;code;city\n3000000000;2026-05-02;007;Oslo\n"
    write_files(tmp_path, {"rocky.toml": CONFIG, "in/two.csv": second, "in/2026/x=1/_SUCCESS": ""})
    types = pa.schema([("id", pa.int32()), ("day", pa.date32()), ("code", pa.string())])
    late = [{"id": 2, "day": None, "code": None}]
    write_rows(tmp_path / "in/2026/x=1/three.parquet", types, late)

    report = run(tmp_path, spark, "files")

    (execution,) = [each.execution for each in report.run.outcomes]
    assert {"id": "widen", "city": "add"} == {each.column: each.grade for each in execution.drift}
    assert [
        ("1", "A7", "2026-05-01", "None"),
        ("2", "None", "None", "None"),
        ("3000000000", "007", "2026-05-02", "Oslo"),
    ] == rows(tmp_path, "orders", "id", "code", "day", "city")
    run(tmp_path, spark, "history")
    assert [("1", "True"), ("2", "True"), ("3000000000", "True")] == rows(
        tmp_path, "orders_history", "id", "is_current"
    )
    assert [] == verify(tmp_path)
