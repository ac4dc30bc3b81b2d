"""The script for auditors: small, alone, and talkative enough."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.shops import Recorded
from tests.table_files import data_files
from tools.verify_run import main

SCRIPT = Path(__file__).parents[2] / "tools" / "verify_run.py"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Recorded:
    return Recorded.make(tmp_path_factory.mktemp("shop"))


def test_it_has_fewer_than_490_lines_and_imports_only_the_standard_library_and_blake3():
    text = SCRIPT.read_text()
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])

    assert len(text.splitlines()) < 490
    assert {"blake3"} == imported - set(sys.stdlib_module_names)


@pytest.mark.slow
def test_it_runs_by_itself_and_says_what_it_checked(project):
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), str(project.state)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "0 findings in 71 records, 5 tables, 19 files\n" == done.stdout


def test_without_the_package_it_needs_it_says_how_to_install_it(project):
    # `-S`: no installed packages.
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT), str(project.state)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (2, "") == (done.returncode, done.stdout)
    assert "verify_run.py needs the package `blake3`: pip install blake3\n" == done.stderr


def test_it_leaves_no_file_behind(project):
    assert 0 == main([str(project.state)])
    assert project.is_untouched()


@pytest.mark.parametrize("name", ["warehouse", "warehouse/", "./warehouse"])
def test_a_warehouse_may_be_named_in_any_way(project, capsys, monkeypatch, name):
    monkeypatch.chdir(project.root)

    assert 0 == main([str(project.state), "--warehouse", name])
    assert "0 findings in 71 records, 5 tables, 19 files\n" == capsys.readouterr().out


def test_a_finding_is_a_line_and_the_exit_code_1(project, capsys):
    (path,) = data_files(project.warehouse / "spark_catalog/default/alone")
    data = path.read_bytes()
    path.write_bytes(b"")

    code = main([str(project.state)])

    path.write_bytes(data)
    line = f"file_changed: {path}: its bytes are not as recorded"
    assert (1, line) == (code, capsys.readouterr().out.splitlines()[0])


def test_a_run_or_a_table_narrows_what_is_looked_at(project, capsys):
    main([str(project.state), "--table", "spark_catalog.default.alone"])

    assert "0 findings in 71 records, 1 tables, 4 files\n" == capsys.readouterr().out


@pytest.mark.parametrize("name", ["absent.db", "text.db", "empty.db"])
def test_what_is_no_ledger_cannot_be_read(tmp_path, capsys, name):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to look at" * 100)
    (tmp_path / "empty.db").write_text("")

    assert 2 == main([str(tmp_path / name)])
    assert f"cannot read `{tmp_path / name}`: " in capsys.readouterr().err


def test_tables_in_an_object_store_are_counted_and_not_passed_over_in_silence(project, capsys):
    from tests.evidence.test_verify import edit  # noqa: PLC0415

    for name in ("run_history", "model_executions", "output_artifacts", "input_provenance"):
        edit(
            project, f"UPDATE {name} SET value = replace(value, '{project.warehouse}', 's3://b/w')"
        )

    main([str(project.state)])

    assert "tables in an object store, not checked" in capsys.readouterr().out
    project.restore()


def test_a_run_or_a_table_that_is_not_there_is_no_all_clear(project, capsys):
    state = str(project.root / ".rocky-state.db")

    assert [2, 2] == [main([state, option, "nope"]) for option in ("--run", "--table")]
    assert "knows no run `nope`" in capsys.readouterr().err


def test_a_state_file_that_is_not_there_is_not_made(tmp_path):
    assert 2 == main([str(tmp_path / "typo.db")])
    assert [] == list(tmp_path.iterdir())
