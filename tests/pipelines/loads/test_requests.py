"""What is asked of a load: heeded or refused, checked, resumed and replayed."""

import pytest

from rocky.errors import NothingSelected, RunRefused, SourceUnreadable
from rocky.plan.request import Window
from tests.pipelines.lakes import statuses
from tests.pipelines.loads.folders import ORDERS, LoadProject, errors, reasons
from tests.replay.replays import Replays, verdicts
from tests.run.runs import verify, write

CHECKS = "[pipeline.bronze.checks]\nenabled = true\n"


@pytest.mark.parametrize(
    "asked",
    [
        {"filters": ("table=x",)},
        {"rebuild": True},
        {"select": ("orders",)},
        {"window": Window(latest=True)},
    ],
)
def test_what_a_load_cannot_heed_is_refused(tmp_path, asked):
    project = LoadProject(tmp_path)

    with pytest.raises(RunRefused, match="only loads files"):
        project.run(**asked)


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    project = LoadProject(tmp_path)
    (tmp_path / "in").rmdir()

    with pytest.raises(SourceUnreadable, match="`source_dir` names `in`, which is not a folder"):
        project.run()


def test_an_empty_folder_is_said_and_no_error(tmp_path):
    report = LoadProject(tmp_path).run()

    assert 0 == report.run.exit_code
    assert ("there is no file to load in the folder of this pipeline",) == report.run.warnings


def test_a_table_that_a_model_writes_is_refused_and_the_others_are_loaded(tmp_path):
    project = LoadProject(tmp_path, target="")
    project.put_text("orders.csv", "id\n1\n")
    project.put_text("items.csv", "id\n1\n")
    target = '[target]\ncatalog = "raw"\nschema = "FILES"\ntable = "orders"\n'
    write(tmp_path, {"models/m.sql": "SELECT 1 AS one", "models/m.toml": target})

    report = project.run()

    assert {ORDERS: "failed", "raw.files.items": "success"} == statuses(report)
    assert "would go where model `m` writes" in str(errors(report)[ORDERS])
    assert not (tmp_path / "warehouse/raw/files/orders").exists()


@pytest.mark.parametrize("text", [None, "columns = 7\n", "not toml"])
def test_a_contract_of_no_use_is_refused_before_anything_is_written(tmp_path, text):
    project = LoadProject(tmp_path, 'contract = "promises.toml"')
    project.put_text("one.csv", "id\n1\n")
    if text is not None:
        write(tmp_path, {"promises.toml": text})

    with pytest.raises(
        RunRefused, match=r"cannot read the contract of pipeline `bronze`: .*promises\.toml"
    ):
        project.run()


def test_a_file_that_changes_while_it_is_looked_at_fails_its_table(tmp_path, monkeypatch):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id\n1\n")

    def describe_and_change(engine, source):
        project.put_text("one.csv", "id\n1\n2\n")
        return described(engine, source)

    described = type(project.engine).describe
    monkeypatch.setattr(type(project.engine), "describe", describe_and_change)
    report = project.run()

    assert "changed while it was being read" in str(errors(report)[ORDERS])
    monkeypatch.undo()
    project.run()
    assert [1, 2] == project.ids()


@pytest.mark.slow
def test_a_run_that_is_resumed_leaves_what_it_has_loaded(tmp_path):
    project = LoadProject(tmp_path, target="")
    project.put_text("orders.csv", "id\n1\n")
    broken = project.put_text("items.parquet", "no Parquet")
    first = project.run()
    broken.unlink()
    project.put_parquet("items.parquet", [{"id": 7}])

    second = project.run(resume="latest")

    assert first.run.run_id == second.run.resumed_from
    assert {"raw.files.items": "success"} == statuses(second)
    assert {"in/orders.csv": f"copied_by_{first.run.run_id}"} == reasons(second)
    with pytest.raises(NothingSelected):
        project.run(resume="run-1")


@pytest.mark.slow
def test_checks_look_at_all_tables_and_fail_the_run(tmp_path):
    failing = 'assertions = [ { type = "not_null", column = "id" } ]\nrow_count = true\n'
    project = LoadProject(tmp_path, more=CHECKS + failing, target="")
    project.put_text("orders.csv", "id,city\n1,Rome\n,Oslo\n")
    project.put_text("items.csv", "id\n1\n")
    project.run()

    report = project.run()

    assert report.checks is not None
    assert {
        (ORDERS, "row_count", True),
        (ORDERS, "not_null:id", False),
        ("raw.files.items", "row_count", True),
        ("raw.files.items", "not_null:id", True),
    } == {(each.table, each.name, each.passed) for each in report.checks.outcomes}
    assert 0 != report.run.exit_code


@pytest.mark.slow
def test_loads_are_replayed_from_the_files_they_read(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id,city\n1,Rome\n")
    first = project.run()
    project.put_parquet("two.parquet", [{"id": 2, "city": "Oslo", "zip": 4}])
    second = project.run()

    replay = Replays(project)  # type: ignore[arg-type]  # it only asks for the folder
    found = [verdicts(replay(each.run.run_id)) for each in (first, second)]

    assert [{ORDERS: "bit_exact"}] * 2 == found
    assert [] == verify(tmp_path)
