import shutil
from pathlib import Path

import pytest

from rocky.cli.console import ExitCode
from rocky.store.warehouse import open_warehouse
from tests.cli.test_schemas import check
from tests.run.runs import Shop
from tests.table_files import data_files


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A project that has run twice. Its records name its place, so it is put back there."""
    shop = Shop(tmp_path_factory.mktemp("verify") / "shop")
    shop.run()
    shop.run()
    shutil.copytree(shop.root, shop.root.with_name("kept"))
    return shop.root


@pytest.fixture
def ran(rocky, template, monkeypatch) -> Path:
    """That project; commands run inside it."""
    for each in template.parent.iterdir():
        if each.name != "kept":
            shutil.rmtree(each)
    shutil.copytree(template.with_name("kept"), template)
    monkeypatch.chdir(template)
    return template


@pytest.mark.slow
def test_an_untouched_project_is_verified(rocky, ran):
    answer = rocky("verify", "-o", "table")

    assert ExitCode.OK == answer.code
    assert answer.out.startswith("verified: ")
    assert "5 commits of 5 tables, 5 files" in answer.out


def test_the_document_fits_its_schema_clean_and_with_findings(rocky, ran):
    clean = rocky("verify", "--all")
    (path,) = data_files(ran / "warehouse/spark_catalog/default/alone")
    path.unlink()
    broken = rocky("verify")

    assert [] == check(clean.json, "verify") + check(broken.json, "verify")
    assert (True, {"kind": "all"}) == (clean.json["verified"], clean.json["scope"])
    assert ["file_missing"] == [each["code"] for each in broken.json["findings"]]
    assert (ExitCode.OK, ExitCode.FAILED) == (clean.code, broken.code)


def test_a_finding_is_a_line_that_names_the_thing(rocky, ran):
    (path,) = data_files(ran / "warehouse/spark_catalog/default/alone")
    path.unlink()

    answer = rocky("verify", "-o", "table")

    assert f"file_missing: {path}: it was recorded and is gone" == answer.out.splitlines()[0]
    assert answer.out.splitlines()[-1].startswith("1 finding: ")


@pytest.mark.parametrize(
    ("what", "scope"),
    [
        ("latest", {"kind": "run", "name": "run-20260131-120002-000"}),
        ("run-20260131-120001-000", {"kind": "run", "name": "run-20260131-120001-000"}),
        ("alone", {"kind": "table", "name": "spark_catalog.default.alone"}),
        ("spark_catalog.default.REPORT", {"kind": "table", "name": "spark_catalog.default.report"}),
    ],
)
def test_a_run_a_model_or_a_table_can_be_named(rocky, ran, what, scope):
    answer = rocky("verify", what)

    assert (ExitCode.OK, scope) == (answer.code, answer.json["scope"])


def test_an_unknown_name_is_refused_with_the_nearest(rocky, ran):
    answer = rocky("verify", "reprot", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert (
        "error: no run, model or table `reprot` is recorded; did you mean `report`?\n" == answer.err
    )


def test_all_and_a_name_contradict_each_other(rocky, ran):
    assert "cannot be used together" in rocky("verify", "alone", "--all").err


def test_nothing_recorded_is_said(rocky, shop):
    answer = rocky("verify", "-o", "table")

    assert (ExitCode.FAILED, "error: no run is recorded yet; `rocky run` makes the first\n") == (
        answer.code,
        answer.err,
    )


def test_a_project_that_does_not_compile_is_verified_all_the_same(rocky, ran):
    (ran / "models/report.sql").write_text("SELECT nope FROM nowhere")

    assert ExitCode.OK == rocky("verify").code


def test_a_project_that_was_moved_is_verified_where_it_is(rocky, ran, monkeypatch):
    moved = ran.with_name(f"{ran.name}-moved")
    ran.rename(moved)
    monkeypatch.chdir(moved)

    assert ExitCode.OK == rocky("verify").code
    monkeypatch.chdir("/")
    moved.rename(ran)


def test_a_state_file_alone_is_checked_where_its_warehouse_was(rocky, ran, monkeypatch):
    monkeypatch.chdir("/")

    assert ExitCode.OK == rocky("verify", "--state-path", str(ran / ".rocky-state.db")).code


@pytest.mark.slow
def test_a_warehouse_that_the_project_has_left_is_verified_where_it_is(
    rocky, tmp_path, monkeypatch
):
    shop = Shop(tmp_path)
    settings = (tmp_path / "rocky.toml").read_text()
    for folder in ("one", "two"):
        place = open_warehouse(folder, base=tmp_path)
        monkeypatch.setattr("tests.run.runs.open_warehouse", lambda *_, place=place, **__: place)
        shop.write("rocky.toml", f'{settings}[adapter]\ntype = "spark"\nwarehouse = "{folder}"\n')
        shop.run()

    answer = rocky("verify")

    assert (ExitCode.OK, 2) == (answer.code, answer.json["checked"]["anchors"])


def test_a_ledger_that_is_gone_is_named_by_the_tables_it_left(rocky, tmp_path, monkeypatch):
    shop = Shop(tmp_path)
    shop.run("alone")
    for file in tmp_path.glob(".rocky-state.db*"):
        file.unlink() if file.is_file() else file.rmdir()
    monkeypatch.chdir(tmp_path)

    answer = rocky("verify")

    assert 1 == answer.code
    assert "the tables were made under the ledger" in answer.err


def test_a_remote_state_that_cannot_be_reached_proves_nothing(rocky, ran):
    config = ran / "rocky.toml"
    config.write_text(
        config.read_text()
        + '\n[state]\nbackend = "valkey"\nvalkey_url = "redis://127.0.0.1:1"\n'
        + "[state.retry]\nmax_retries = 0\n"
    )

    verified, shown = rocky("verify"), rocky("history")
    (ran / ".rocky-state.db").unlink()
    without_copy = [rocky("history"), rocky("branch", "list")]

    assert (ExitCode.FAILED, ExitCode.OK) == (verified.code, shown.code)
    assert "this is the state of this machine" in shown.err
    assert [ExitCode.FAILED, ExitCode.FAILED] == [each.code for each in without_copy]
    assert not (ran / ".rocky-state.db").exists()


@pytest.mark.parametrize("command", ["verify", "history", "branch list", "state", "cost latest"])
def test_a_state_file_that_is_not_there_is_not_an_empty_one(rocky, ran, command):
    answer = rocky(*command.split(), "--state-path", "typo.db")

    assert (ExitCode.FAILED, "LedgerUnreadable") == (answer.code, answer.json["error"]["kind"])
    assert "no state file `typo.db`" in answer.err
    assert not (ran / "typo.db").exists()
