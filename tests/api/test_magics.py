"""The magics of a notebook, with a shell that has what they need of IPython's."""

import subprocess
import sys

import pytest

import rocky
from rocky.errors import InvalidRequest, NothingSelected, ProjectNotFound
from rocky.operations.findings import ErrorsFound
from tests.api.shells import StandInShell
from tests.run.runs import PROJECT, write


@pytest.fixture
def shell() -> StandInShell:
    made = StandInShell()
    rocky.load_ipython_extension(made)
    return made


@pytest.fixture
def shop(tmp_path):
    write(tmp_path, PROJECT)
    return tmp_path


def test_loading_adds_the_magics(shell):
    assert {("cell", "rocky"), ("line", "rocky_project")} == set(shell.magics)


def test_a_cell_is_checked_against_the_project_of_the_folder(shell, shop, monkeypatch):
    monkeypatch.chdir(shop)
    with pytest.raises(ErrorsFound, match="`cell` does not compile: no row was read") as caught:
        shell.cell("", "SELECT id,\n  contry\nFROM stg_orders\n")

    (finding,) = caught.value.diagnostics
    assert ("E003", "cell", 2, 3) == (
        finding.code.value,
        finding.span.file,
        finding.span.line,
        finding.span.col,
    )


def test_a_notebook_shows_the_findings_in_place_of_a_stack(shell, shop):
    shell.line("rocky_project", str(shop))
    with pytest.raises(ErrorsFound) as caught:
        shell.cell("", "SELECT id,\n  contry\nFROM stg_orders\n")

    # IPython asks an exception for this before it makes a traceback of its own.
    shown = caught.value._render_traceback_()
    assert "error[E003 unknown-column]: no column `contry` in scope" == shown[0]
    assert " --> cell:2:3" == shown[1]
    assert "ErrorsFound: `cell` does not compile: no row was read" == shown[-1]
    assert not any("Traceback" in line or ".py" in line for line in shown)


def test_without_spark_a_cell_says_what_it_would_have(shell, shop):
    shell.line("rocky_project", str(shop))
    found = shell.cell("", "SELECT id, country FROM stg_orders")

    assert ["id", "country"] == [each.name for each in found.columns]
    said = repr(found)
    assert said.startswith("<QueryReport: the query compiles: 2 columns of stg_orders; no row was ")
    assert "this notebook has no variable `spark`; set it to a session" in said
    kept = shell.cell("orders", "SELECT id, country FROM stg_orders")
    assert "nothing is kept as `orders`" in repr(kept)
    assert "orders" not in shell.user_ns


def test_a_project_is_named_by_a_line(shell, shop, tmp_path, monkeypatch):
    assert isinstance(shell.line("rocky_project", f"'{shop}'"), rocky.Workspace)
    with pytest.raises(ProjectNotFound):
        shell.line("rocky_project", str(tmp_path / "nowhere"))
    with pytest.raises(NothingSelected, match="no branch `b1`"):
        shell.line("rocky_project", f"{shop} --branch b1")
    for wrong in ("a b", "a --branch", "--nope"):
        with pytest.raises(InvalidRequest, match="rocky_project PATH"):
            shell.line("rocky_project", wrong)
    with pytest.raises(InvalidRequest, match="under a name, not `a b`"):
        shell.cell("a b", "SELECT 1 AS one")


@pytest.mark.slow
def test_public_names_are_listed_and_nothing_of_ipython_is_loaded():
    assert sorted(rocky.__all__) == dir(rocky)
    assert callable(rocky.load_ipython_extension)
    asked = "import sys, rocky; rocky.open; print([m for m in sys.modules if 'IPython' in m or m == 'rocky.api.magics'])"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert "[]" == said.stdout.strip()
