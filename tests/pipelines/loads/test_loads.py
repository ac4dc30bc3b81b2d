"""Loads: each file once, whatever it is called and whatever happens between."""

import gzip

import pytest

from rocky.ledger.pipeline_state import load_file_hashes
from rocky.operations.governance.erase import EraseRequest, erase
from rocky.operations.workspace import Workspace
from tests.pipelines.lakes import statuses
from tests.pipelines.loads.folders import ORDERS, LoadProject, errors, reasons
from tests.run.runs import verify

ONE = "id,country\n1,DE\n2,FR\n"
TWO = "id,country\n3,DE\n"


@pytest.mark.slow
def test_a_file_is_loaded_once_and_a_later_one_is_added(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)

    first = project.run()
    project.put_text("two.csv", TWO)
    second = project.run()

    assert {ORDERS: "success"} == statuses(first) == statuses(second)
    assert [2, 1] == [each.run.outcomes[0].execution.rows_affected for each in (first, second)]
    assert {"in/one.csv": "already_loaded"} == reasons(second)
    assert [1, 2, 3] == project.ids()
    assert [] == verify(tmp_path)


def test_all_new_files_of_a_table_come_in_one_commit(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)
    project.put_text("deeper/two.csv", TWO)
    project.put_parquet("three.parquet", [{"id": 4, "country": "ES"}])

    project.run()

    assert 1 == project.versions()
    assert [1, 2, 3, 4] == project.ids()


def test_a_folder_without_anything_new_needs_no_spark(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)
    project.run()
    project.opened = 0

    report = project.run()

    assert 0 == project.opened
    assert (ORDERS,) == report.run.unchanged
    assert {} == statuses(report)
    assert 1 == project.versions()


def test_a_file_under_another_name_is_the_same_file(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE).rename(tmp_path / "in/first.csv")
    project.put_text("copy.csv", ONE)

    first = project.run()
    (tmp_path / "in/first.csv").rename(tmp_path / "in/renamed.csv")
    second = project.run()

    assert {"in/first.csv": "already_loaded"} == reasons(first)
    assert {"in/copy.csv": "already_loaded", "in/renamed.csv": "already_loaded"} == reasons(second)
    assert [1, 2] == project.ids()


def test_a_file_with_other_bytes_is_another_file(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)
    project.run()
    project.put_text("one.csv", TWO)

    project.run()

    assert [1, 2, 3] == project.ids()


def test_without_a_table_each_name_or_folder_is_one(tmp_path):
    project = LoadProject(tmp_path, target="")
    project.put_text("orders.csv", ONE)
    project.put_text("Orders/2026/may.csv", TWO)
    project.put_text("line-items.csv", ONE)

    report = project.run()

    assert {ORDERS, "raw.files.line_items"} == set(statuses(report))
    assert [1, 2, 3] == project.ids(ORDERS)
    assert [1, 2] == project.ids("raw.files.line_items")


def test_what_fails_one_table_does_not_keep_another_from_its_files(tmp_path):
    project = LoadProject(tmp_path, target="")
    project.put_text("orders.csv", ONE)
    project.put_text("broken.parquet", "this is no Parquet file")

    report = project.run()

    assert {ORDERS: "success", "raw.files.broken": "failed"} == statuses(report)
    assert "`in/broken.parquet` is not a Parquet file" in str(errors(report)["raw.files.broken"])
    assert 2 == report.run.exit_code
    assert [] == verify(tmp_path)


def test_a_link_that_leads_nowhere_fails_its_table_and_is_named(tmp_path):
    project = LoadProject(tmp_path, target="")
    project.put_text("orders.csv", ONE)
    (tmp_path / "in/items.csv").symlink_to("nowhere/items.csv")

    report = project.run()

    assert {ORDERS: "success", "raw.files.items": "failed"} == statuses(report)
    assert (
        "`in/items.csv` cannot be read: it is a link that leads nowhere"
        == (errors(report)["raw.files.items"])
    )


def test_formats_are_told_by_the_suffix_unless_one_is_set(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("notes.md", "# what this is")
    project.put_text("marker.csv", "")
    project.put_text("_hidden.csv", TWO)
    project.put_text("more.jsonl", '{"id": 7, "country": "IT"}\n')
    (tmp_path / "in/one.csv.gz").write_bytes(gzip.compress(ONE.encode()))

    report = project.run()

    assert {"in/notes.md": "unknown_format", "in/marker.csv": "empty_file"} == reasons(report)
    assert any("in/notes.md" in each for each in report.run.warnings)
    assert [1, 2, 7] == project.ids()


def test_a_format_that_is_set_holds_for_files_of_any_other_suffix(tmp_path):
    project = LoadProject(tmp_path, 'format = "csv"')
    project.put_text("one.txt", ONE)
    project.put_text("more.jsonl", '{"id": 7, "country": "IT"}\n')

    report = project.run()

    assert {"in/more.jsonl": "other_format"} == reasons(report)
    assert [1, 2] == project.ids()


@pytest.mark.slow
def test_a_delimiter_and_a_missing_header_are_heeded(tmp_path):
    options = '[pipeline.bronze.options]\ncsv_delimiter = ";"\n'
    project = LoadProject(tmp_path, more=options)
    project.put_text("one.csv", "id;country\n1;DE\n")
    project.run()
    project.configure(more=options + "csv_has_header = false\n")
    project.put_text("two.csv", "2;FR\n3;ES\n")

    project.run()

    assert [
        {"id": 1, "country": "DE"},
        {"id": 2, "country": "FR"},
        {"id": 3, "country": "ES"},
    ] == sorted(project.rows(ORDERS), key=lambda row: row["id"])


@pytest.mark.slow
def test_truncate_first_makes_the_table_what_the_folder_holds(tmp_path):
    project = LoadProject(tmp_path, more="[pipeline.bronze.options]\ntruncate_first = true\n")
    one = project.put_text("one.csv", ONE)
    project.run()
    project.opened = 0
    same = project.run()
    assert 0 == project.opened
    assert {"in/one.csv": "already_loaded"} == reasons(same)
    one.unlink()
    project.put_text("two.csv", TWO)

    project.run()

    assert [3] == project.ids()
    assert 2 == project.versions()
    assert [] == verify(tmp_path)


@pytest.mark.slow
def test_a_full_refresh_loads_all_files_anew_and_forgets_those_that_are_gone(tmp_path):
    project = LoadProject(tmp_path)
    one = project.put_text("one.csv", ONE)
    project.put_text("two.csv", TWO)
    project.run()
    one.unlink()
    project.run(full_refresh=True)
    assert [3] == project.ids()
    project.put_text("one.csv", ONE)

    project.run()

    assert [1, 2, 3] == project.ids()
    assert [] == verify(tmp_path)


def test_a_table_that_must_exist_and_does_not_fails(tmp_path):
    project = LoadProject(tmp_path, more="[pipeline.bronze.options]\ncreate_table = false\n")
    project.put_text("one.csv", ONE)

    report = project.run()

    assert {ORDERS: "failed"} == statuses(report)
    assert "`create_table` is false" in str(errors(report)[ORDERS])


def test_a_table_that_was_dropped_gets_all_files_again(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)
    project.run()
    for path in sorted((tmp_path / "warehouse/raw/files/orders").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()

    project.run()

    assert [1, 2] == project.ids()


def test_what_was_loaded_is_recorded_with_the_run_that_did_it(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)

    report = project.run()

    assert 1 == len(load_file_hashes(project.state, [ORDERS])[ORDERS])
    (execution,) = project.last_run().models_executed
    assert "append" == execution.strategy
    assert report.run.run_id == project.last_run().run_id


def test_an_erasure_names_the_folder_and_a_table_as_sql_does(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", ONE)
    project.run()

    report = erase(Workspace(tmp_path), EraseRequest("id = 1", sources=("files.orders",)))

    assert [(ORDERS, 1)] == [(each.table, each.rows) for each in report.tables]
    ((folder, advice),) = [(each.name, each.advice) for each in report.sources]
    assert "in" == folder
    assert "`rocky run --pipeline bronze --full-refresh`" in advice
