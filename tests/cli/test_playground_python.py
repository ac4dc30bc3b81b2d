"""The playground with a Python model: typed without a declared output, mistakes at their text."""

from pathlib import Path

import pytest

from rocky.cli.console import ExitCode
from tests.cli.test_diffs import found_by_rule
from tests.cli.test_schemas import check
from tests.project.git.repos import make_repo

pytestmark = pytest.mark.slow

MODEL = "models/scored_orders.py"


@pytest.fixture
def scores(rocky, tmp_path, monkeypatch) -> Path:
    root = tmp_path / "scores"
    assert ExitCode.OK == rocky("playground", str(root), "--template", "python").code
    monkeypatch.chdir(root)
    return root


def test_it_compiles_and_a_misspelt_column_is_found_at_its_text(rocky, scores):
    answer = rocky("compile", "-o", "json")
    text = (scores / MODEL).read_text()
    (scores / MODEL).write_text(text.replace('F.col("amount")', 'F.col("amuont")'))
    wrong = rocky("compile", "-o", "table").out

    assert [] == answer.json["diagnostics"]
    assert 0 == answer.json["summary"]["unknown_columns"]
    assert "error[E003 unknown-column]: no column `amuont` in scope" in wrong
    assert f"{MODEL}:10:56" in wrong
    assert "there is a column `amount`" in wrong


def test_a_gate_fails_with_the_remedy_where_code_was_not_run(rocky, tmp_path, monkeypatch):
    made = tmp_path / "made"
    rocky("playground", str(made), "--template", "python")
    files = {
        each.relative_to(made).as_posix(): each.read_text()
        for each in made.rglob("*")
        if each.is_file()
    }
    repo = make_repo(tmp_path / "repo", files)
    monkeypatch.chdir(tmp_path / "repo")
    repo.write({MODEL: files[MODEL].replace("joined", "everything")})
    shown = rocky("ci-diff", "HEAD", "-o", "table")
    gate = rocky("lineage-diff", "HEAD", "--fail-on", "breaking", "-o", "json")
    marked = rocky("ci-diff", "HEAD", "--fail-on", "breaking", "--format", "github").out

    assert "0 breaking changes in what was compared; 2 not compared of 2 models" in shown.out
    assert "note: `scored_orders` and `country_scores` are not compared" in shown.err
    assert (ExitCode.OK, ExitCode.FAILED) == (shown.code, gate.code)
    assert "error: `scored_orders` and" in gate.err
    assert "set `ROCKY_ANALYSE=always`" in gate.err
    check(gate.json, "lineage-diff")
    assert f"::error file={MODEL},title=not compared::`scored_orders` is not compared" in marked
    assert gate.json["markdown"].splitlines()[1].startswith("**Not all was compared**")


def test_a_refactored_file_is_no_change_and_another_plan_is(rocky, tmp_path, monkeypatch):
    made = tmp_path / "made"
    rocky("playground", str(made), "--template", "python")
    files = {
        each.relative_to(made).as_posix(): each.read_text()
        for each in made.rglob("*")
        if each.is_file()
    }
    repo = make_repo(tmp_path / "repo", files)
    monkeypatch.chdir(tmp_path / "repo")
    rocky("compile")
    moved = files[MODEL].replace("joined", "everything").replace("weight", "factor")

    def changes(text: str) -> set:
        repo.write({MODEL: text})
        rocky("compile")
        return found_by_rule(rocky("lineage-diff", "HEAD").json)

    assert set() == changes(moved)
    assert {("logic_changed", "scored_orders", "score")} == changes(moved.replace(", 2)", ", 3)"))
