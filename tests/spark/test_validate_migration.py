"""A migration is compared row by row with what dbt has built, and nothing counts as the same unseen."""

import json

import pytest

import rocky
from tests.dbt.dbt_projects import copy_project

pytestmark = pytest.mark.spark
NODES = ("months", "member_months", "left_months", "fees")


def write_manifest(root):
    """What `dbt run` would have left of `gym`, as far as it is read."""
    nodes = {
        f"model.gym.{name}": {
            "unique_id": f"model.gym.{name}",
            "resource_type": "model",
            "name": name,
            "package_name": "gym",
            "relation_name": None if name == "months" else f"gym.{name}",
        }
        for name in NODES
    }
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
        "project_name": "gym",
    }
    (root / "target").mkdir()
    (root / "target" / "manifest.json").write_text(
        json.dumps({"metadata": metadata, "nodes": nodes})
    )


@pytest.fixture(scope="module")
def moved(tmp_path_factory, spark):
    """`gym`, imported and built; the tables of dbt are what Rocky's first run gave, as Parquet."""
    folder = tmp_path_factory.mktemp("migration")
    root = copy_project("gym", folder)
    report = rocky.import_dbt(root, folder / "new", use_dbt=False)
    assert (4, 4) == (report.clean, report.models)
    workspace = rocky.open(folder / "new", spark=spark, progress=False)
    assert workspace.build().succeeded
    for name in NODES[1:]:
        workspace.table(name).write.parquet(str(folder / "tables" / "gym.db" / name))
    write_manifest(root)
    return workspace, root, folder / "tables"


def outcomes(report):
    return {each.model: each.outcome for each in report.models}


def test_the_same_rows_are_the_same_by_their_hash(moved):
    workspace, root, tables = moved
    report = workspace.validate_migration(root, tables=tables, build=True)

    assert {
        "months": "not_compared",
        "member_months": "same",
        "left_months": "same",
        "fees": "same",
    } == outcomes(report)
    assert report.agrees
    (fees,) = [each for each in report.models if each.model == "fees"]
    assert (fees.hash_dbt, fees.rows_dbt) == (fees.hash_rocky, fees.rows_rocky)


def test_a_row_that_differs_is_counted_and_shown(moved, spark, tmp_path):
    workspace, root, tables = moved
    frame = spark.read.parquet(str(tables / "gym.db" / "left_months"))
    frame.selectExpr(
        "member_id", "month", "if(member_id = 7, 9.0, fee) as fee", "is_first_month"
    ).write.parquet(str(tmp_path / "gym.db" / "left_months"))
    report = workspace.validate_migration(root, "left_months", tables=tmp_path)

    (found,) = report.models
    assert ("differs", 1, 1) == (found.outcome, found.only_dbt, found.only_rocky)
    assert ("9.0", "0.0") == (found.sample_dbt[0]["fee"], found.sample_rocky[0]["fee"])
    assert [("is_last_month", None, "boolean")] == [
        (each.column, each.dbt, each.rocky) for each in found.columns
    ]
    assert not report.agrees


def test_other_types_with_the_same_values_are_the_same_and_said(moved, spark, tmp_path):
    workspace, root, tables = moved
    frame = spark.read.parquet(str(tables / "gym.db" / "left_months"))
    changed = frame.selectExpr("cast(member_id as int) as member_id", "* except (member_id)")
    changed.write.parquet(str(tmp_path / "gym.db" / "left_months"))
    (found,) = workspace.validate_migration(root, "left_months", tables=tmp_path).models

    assert ("same", "int", "bigint") == (
        found.outcome,
        found.columns[0].dbt,
        found.columns[0].rocky,
    )


def test_a_table_that_is_not_there_is_not_compared(moved, tmp_path):
    workspace, root, _ = moved
    report = workspace.validate_migration(root, "fees", tables=tmp_path)

    assert {"fees": "not_compared"} == outcomes(report)
    assert not report.agrees
    by_name = workspace.validate_migration(root, "fees")
    assert {"fees": "not_compared"} == outcomes(by_name)
    (fees,) = by_name.models
    assert (
        "Spark's catalogue has no `gym.fees`: dbt has not built it (`dbt run --select fees`), or"
        " this Spark has another metastore than dbt's: name that in `[adapter.conf]`, or the folder"
        " of dbt's tables with `--tables`"
    ) == fees.reason


def test_tables_are_found_by_their_names_in_the_catalogue(moved, spark):
    workspace, root, tables = moved
    spark.sql("create schema if not exists gym")
    try:
        spark.read.parquet(str(tables / "gym.db" / "fees")).write.saveAsTable("gym.fees")
        report = workspace.validate_migration(root, "fees")
        assert {"fees": "same"} == outcomes(report)
    finally:
        spark.sql("drop schema gym cascade")


def test_a_model_that_does_not_compile_does_not_stop_the_others(moved):
    workspace, root, tables = moved
    wrong = workspace.config / "models" / "left_months.sql"
    text = wrong.read_text()
    wrong.write_text(text.replace("member_id,", "nobody_knows,", 1))
    try:
        found = workspace.validate_migration(root, tables=tables)
    finally:
        wrong.write_text(text)

    # `fees` reads it.
    assert {
        "months": "not_compared",
        "member_months": "same",
        "left_months": "not_compared",
        "fees": "not_compared",
    } == outcomes(found)
    assert "does not compile" in {each.model: each.reason for each in found.models}["fees"]
