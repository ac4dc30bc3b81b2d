"""`rocky import-dbt` says what became of each thing, and where a hand is needed."""

import json

import pytest

from tests.dbt.dbt_projects import copy_project, with_manifest


@pytest.mark.slow
def test_what_needs_a_hand_is_named_with_its_line(rocky, tmp_path):
    copy_project("clicks", tmp_path)
    answer = rocky("import-dbt", "clicks", "--no-dbt", "-o", "table")

    assert 0 == answer.code
    lines = answer.out.splitlines()
    assert (
        "needs a hand: model `pages_so_far`: dbt filters rows before they are grouped or numbered,"
        " Rocky the result; the whole query is built as a table (models/sessions/pages_so_far.sql:4)"
    ) in lines
    assert (
        "rewritten: model `recent_events`: `target.name` was taken as `prod` (models/base/recent_events.sql)"
        in lines
    )
    assert f"`clicks` was read by its files alone and written to {tmp_path}/clicks-rocky" in lines
    assert "  12 models: 1 as written, 7 rewritten, 4 by hand" in lines
    assert "14 of 15 models compile: 1 error" in lines


@pytest.mark.slow
def test_what_was_rewritten_in_a_model_that_needs_a_hand_is_named_too(rocky, tmp_path):
    root = copy_project("bakery", tmp_path)
    (root / "models" / "late.sql").write_text(
        "{{ config(materialized='incremental', incremental_strategy='merge', unique_key='id',"
        " post_hook='optimize late') }}\n"
        "select 1 as id\n{% if is_incremental() %}\nwhere true\n{% endif %}\n"
    )
    answer = rocky("import-dbt", "bakery", "--no-dbt", "-o", "table")

    said = [each for each in answer.out.splitlines() if "model `late`" in each]
    assert ["needs a hand", "rewritten"] == [each.partition(":")[0] for each in said]
    assert "`is_incremental()` is left out" in said[1]


def test_a_quiet_import_names_only_what_needs_a_hand(rocky, tmp_path):
    copy_project("gym", tmp_path)
    answer = rocky("import-dbt", "gym", "--no-dbt", "-q", "-o", "table")

    assert "rewritten: " not in answer.out
    assert answer.out.endswith("4 of 4 models compile: no errors\n")


def test_the_report_is_a_document(rocky, tmp_path):
    with_manifest(copy_project("bakery", tmp_path))
    answer = rocky("import-dbt", "bakery", "--to", "new")

    assert ("manifest", 13) == (answer.json["read_by"], answer.json["clean"])
    (log,) = [each for each in answer.json["things"] if each["name"] == "visit_log"]
    assert ("model", "rewritten", 5) == (log["kind"], log["verdict"], log["remarks"][0]["line"])


def test_another_manifest_may_be_named(rocky, tmp_path):
    root = copy_project("bakery", tmp_path)
    with_manifest(root, lambda data: data["nodes"].pop("model.bakery.guests"))
    (root / "target" / "manifest.json").rename(tmp_path / "other.json")
    answer = rocky("import-dbt", "bakery", "--manifest", "other.json", "--to", "new")

    assert 9 == sum(each["kind"] == "model" for each in answer.json["things"])
    assert json.loads((tmp_path / "other.json").read_text())


def test_what_is_no_dbt_project_is_refused(rocky, tmp_path):
    answer = rocky("import-dbt", ".", "-o", "table")

    assert (1, "") == (answer.code, answer.out)
    assert "error: no `dbt_project.yml` in `.`: name the folder of a dbt project" in answer.err


def test_a_comparison_needs_to_know_the_tables_of_dbt(rocky, tmp_path):
    copy_project("gym", tmp_path)
    rocky("import-dbt", "gym", "--no-dbt", "--to", "new")
    answer = rocky("validate-migration", "gym", "-c", "new", "-o", "table")

    assert 1 == answer.code
    assert "no `gym/target/manifest.json`: `dbt run` leaves it" in answer.err
