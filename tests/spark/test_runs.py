"""Whole runs on Spark: what they leave is right for readers nobody here wrote."""

import json

import deltalake
import duckdb
import polars as pl
import pytest
from benchmarks.twenty_models import MODELS, write_project

import rocky
from rocky.errors import RunRefused
from tests.spark.projects import (
    build,
    data_files,
    errors_of,
    is_named_by_its_bytes,
    table_folder,
    write_files,
)
from tests.table_files import data_files as files_of_table

pytestmark = pytest.mark.spark


def test_every_model_is_built_and_every_file_is_named_by_its_bytes(twenty):
    root, report = twenty

    assert 0 == report.exit_code
    assert set(MODELS) == {each.step.name for each in report.outcomes}
    files = files_of_table(root / "warehouse")
    assert len(MODELS) <= len(files)
    assert all(is_named_by_its_bytes(path) for path in files)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_readers_nobody_here_wrote_agree_with_the_record(twenty, name):
    root, report = twenty
    folder = str(table_folder(root, name))
    (recorded,) = [each.execution for each in report.outcomes if each.step.name == name]

    table = deltalake.DeltaTable(folder)
    uris = table.file_uris()
    read = {
        "deltalake": table.to_pyarrow_table().num_rows,
        "polars": pl.read_delta(folder).height,
        "duckdb": duckdb.read_parquet(uris).aggregate("count(*)").fetchall()[0][0] if uris else 0,
        "record": recorded.rows_affected,
    }

    assert {recorded.rows_affected} == set(read.values())
    compiled = rocky.compile_project(rocky.load_project(root)).models[name]
    fields = json.loads(table.schema().to_json())["fields"]
    assert [(column.name, column.nullable) for column in compiled.columns] == [
        (field["name"], field["nullable"]) for field in fields
    ]


SETTINGS = {
    "no AQE": {"spark.sql.adaptive.enabled": "false"},
    "many shuffle partitions": {"spark.sql.shuffle.partitions": "7"},
    "small batches": {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.sql.parquet.columnarReaderBatchSize": "64",
        "spark.sql.files.maxPartitionBytes": "20000",
    },
}


@pytest.mark.sampled
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_settings_of_the_machine_do_not_change_a_byte(twenty, spark, tmp_path, settings):
    root, report = twenty
    other = write_project(tmp_path / "project", orders=300)
    conf = "".join(f'"{name}" = "{value}"\n' for name, value in settings.items())
    config = other / "rocky.toml"
    config.write_text(config.read_text() + f"\n[adapter.conf]\n{conf}")

    again = build(other, spark)

    assert {} == errors_of(again)
    assert {name: data_files(table_folder(root, name)) for name in MODELS} == {
        name: data_files(table_folder(other, name)) for name in MODELS
    }
    assert {each.step.name: each.execution.rows_hash for each in report.outcomes} == {
        each.step.name: each.execution.rows_hash for each in again.outcomes
    }


def test_an_edited_model_is_built_again_and_its_old_version_stays_readable(spark, tmp_path):
    root = write_files(tmp_path, {"models/numbers.sql": "SELECT 1 AS n UNION ALL SELECT 2\n"})
    build(root, spark)
    (root / "models/numbers.sql").write_text("SELECT 10 AS n\n")

    report = build(root, spark)

    assert 0 == report.exit_code
    folder = str(table_folder(root, "numbers"))
    assert [10] == deltalake.DeltaTable(folder).to_pyarrow_table()["n"].to_pylist()
    before = deltalake.DeltaTable(folder, version=0).to_pyarrow_table()["n"].to_pylist()
    assert [1, 2] == sorted(before)


def test_an_error_in_the_selection_stops_the_run_before_anything_is_written(spark, tmp_path):
    root = write_files(
        tmp_path,
        {"models/good.sql": "SELECT 1 AS n\n", "models/bad.sql": "SELECT nope FROM good\n"},
    )

    with pytest.raises(RunRefused, match="bad"):
        build(root, spark)

    assert not (root / "warehouse").exists()
    assert 0 == build(root, spark, "good").exit_code


def test_a_failed_model_stops_only_its_descendants(spark, tmp_path):
    root = write_files(
        tmp_path,
        {
            "models/broken.sql": "SELECT 1 / (id - id) AS n FROM range(3)\n",
            "models/reader.sql": "SELECT n FROM broken\n",
            "models/other.sql": "SELECT 1 AS n\n",
        },
    )

    report = build(root, spark)

    assert 2 == report.exit_code
    ended = {each.step.name: each.execution.status.value for each in report.outcomes}
    assert {"broken": "failed", "reader": "skipped", "other": "success"} == ended
    assert "DIVIDE_BY_ZERO" in errors_of(report)["broken"]
    assert not table_folder(root, "broken").joinpath("_delta_log").exists()


def test_the_callers_session_is_used_and_left_as_it_was(spark, tmp_path):
    root = write_files(tmp_path, {"models/numbers.sql": "SELECT 1 AS n\n"})
    zone = spark.conf.get("spark.sql.session.timeZone")
    views = {each.name for each in spark.catalog.listTables()}

    build(root, spark)

    assert zone == spark.conf.get("spark.sql.session.timeZone")
    assert views == {each.name for each in spark.catalog.listTables()}
    assert 1 == spark.range(1).count()
