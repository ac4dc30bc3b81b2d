"""A source that is not where it was declared to be: told by `plan` and `run`, without Spark."""

import json

import pytest

from tests.spark.projects import write_files

SOURCE = """\
[[source]]
name = "raw.orders"
format = "csv"
path = "data/orders.csv"
columns = [ { name = "id", type = "bigint" } ]

[[source]]
name = "raw.parts"
format = "parquet"
path = "data/parts/*.parquet"
columns = [ { name = "id", type = "bigint" } ]

[[source]]
name = "raw.lake"
format = "delta"
path = "lake/table"
columns = [ { name = "id", type = "bigint" } ]
"""
MODELS = {
    "models/orders.sql": "SELECT id FROM raw.orders\n",
    "models/open.sql": "SELECT id FROM raw.parts\n",
    "models/open.toml": '[strategy]\ntype = "view"\n',
    "models/reader.sql": "SELECT id FROM open\n",
    "models/last.sql": "SELECT id FROM reader\n",
    "models/lake.sql": "SELECT id FROM raw.lake\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose data nobody has delivered, on a machine without Java."""
    write_files(tmp_path, {"sources/raw.toml": SOURCE, **MODELS})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def places(findings):
    return {(f"{each['span']['file']}:{each['span']['line']}", each["code"]) for each in findings}


MISSING = {(f"sources/raw.toml:{line}", "E044") for line in (4, 10, 16)}


def test_a_plan_names_every_place_that_holds_no_data_and_fails(rocky, project):
    answer = rocky("plan", "-o", "json")

    assert 1 == answer.code
    assert MISSING == places(answer.json["diagnostics"])
    assert (
        """\
error[E044 live-source-unreadable]: source `raw.orders`: there is no data at `data/orders.csv`
 --> sources/raw.toml:4:8
  |
4 | path = "data/orders.csv"
  |        ^^^^^^^^^^^^^^^^^
  = help: put the data there, or correct the path: it begins at the project's folder
"""
        in answer.err
    )
    assert "source `raw.parts`: no file matches `data/parts/*.parquet`" in answer.err
    assert "source `raw.lake`: there is no Delta table at `lake/table`" in answer.err


def test_a_run_fails_their_readers_before_spark_starts(rocky, project):
    answer = rocky("run", "-o", "json")

    assert 1 == answer.code
    errors = {each["model"]: each for each in answer.json["errors"]}
    assert {"orders", "open", "lake"} == set(errors)
    assert MISSING == places(found for each in errors.values() for found in each["diagnostics"])
    assert {"missing_source"} == {each["failure_kind"] for each in errors.values()}
    assert {"reader": ["open"], "last": ["open"]} == {
        each["model"]: each["blocked_by"] for each in answer.json["contained"]
    }


def test_what_was_not_there_is_in_the_history_with_its_place(rocky, project):
    rocky("run", "-o", "json")

    shown = json.dumps(rocky("history", "--model", "orders", "-o", "json").json)

    assert "sources/raw.toml:4:8: source `raw.orders`: there is no data at" in shown


def test_what_a_run_of_the_project_may_still_write_is_no_error_of_a_plan(rocky, project):
    text = SOURCE.replace("lake/table", "warehouse/spark_catalog/default/copied")
    (project / "sources/raw.toml").write_text(text)

    found = rocky("plan", "-o", "json").json["diagnostics"]

    assert MISSING - {("sources/raw.toml:16", "E044")} == places(found)


def test_a_source_that_nothing_to_build_reads_is_not_asked_for(rocky, project):
    (project / "models/alone.sql").write_text("SELECT 1 AS one\n")

    answer = rocky("plan", "alone", "-o", "json")

    assert (0, []) == (answer.code, answer.json["diagnostics"])
