"""A run is refused for errors in any file that says what its models are, readable or not."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rocky.compiler.passes import compile_project
from rocky.plan.refusals import config_findings, plan_checked
from rocky.plan.request import RunRequest
from rocky.project import load_project
from tests.plan.projects import SHOP, compiled

Place = Callable[[Path], object]

MACROS = {
    "macros/sound.sql": "CREATE MACRO sound(x EXPRESSION) RETURN @x + 1\n",
    "macros/broken.sql": "CREATE MACRO broken(x EXPRESSION) RETURN ((@x\n",
    "macros/through.sql": "CREATE MACRO through(x EXPRESSION) RETURN @broken(@x)\n",
}
UNKNOWN = {"rocky.toml": f'[compile]\nundeclared = "unknown"\n{SHOP["rocky.toml"]}'}


def _not_utf8(path: Path) -> None:
    path.write_bytes(b"\xff")


def _not_toml(path: Path) -> None:
    path.write_text("columns = [\n")


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


UNREADABLE: Sequence[Place] = (_not_utf8, _not_toml, _dangling, Path.mkdir)


def _put(root: Path, name: str, place: Place) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    place(path)


def _refused(root: Path, *select: str, files: dict[str, str] | None = None) -> list[str | None]:
    """The files for whose errors a run of a selection is refused."""
    _, found = plan_checked(compiled(root, files), RunRequest(select))
    return [each.path for each in found]


def _kept(root: Path, *select: str, files: dict[str, str] | None = None) -> dict[str, list[str]]:
    """What a run that keeps going builds, and what it leaves out with an error of its own."""
    plan, found = plan_checked(compiled(root, files), RunRequest(select, keep_going=True))
    assert () == found
    return {
        "built": [each.key for each in plan.steps],
        "left out": [each.step.key for each in plan.left_out if each.finding is not None],
    }


@pytest.mark.parametrize("place", UNREADABLE)
@pytest.mark.parametrize("folder", ["contracts", "contracts/deep", "models/marts"])
def test_a_contract_that_cannot_be_read_refuses_its_model(tmp_path, folder, place):
    name = f"{folder}/alone.contract.toml"
    _put(tmp_path, name, place)

    assert [name] == _refused(tmp_path, "alone")
    assert [] == _refused(tmp_path, "report")
    assert {"built": ["report"], "left out": ["alone"]} == _kept(tmp_path, "alone", "report")


def test_a_contract_belongs_to_the_model_beside_it_whatever_that_is_called(tmp_path):
    _put(tmp_path, "models/marts/file.contract.toml", _not_utf8)
    files = {"models/marts/file.sql": "SELECT 1 AS a", "models/marts/file.toml": 'name = "own"\n'}

    assert ["models/marts/file.contract.toml"] == _refused(tmp_path, "own", files=files)


def test_what_should_be_named_as_a_contract_refuses_its_model(tmp_path):
    _put(tmp_path, "contracts/alone.toml", lambda path: path.write_text("[rules]\n"))

    assert ["contracts/alone.toml"] == _refused(tmp_path, "alone")


@pytest.mark.parametrize("place", UNREADABLE)
def test_a_sidecar_of_a_seed_that_cannot_be_read_refuses_its_readers(tmp_path, place):
    _put(tmp_path, "seeds/countries.toml", place)

    assert ["seeds/countries.toml"] == _refused(tmp_path, "report")
    assert [] == _refused(tmp_path, "stg_orders")
    kept = _kept(tmp_path, "alone", "by_country")
    assert {"built": ["alone"], "left out": ["countries"]} == kept


@pytest.mark.parametrize("place", UNREADABLE)
def test_a_sidecar_of_a_model_that_cannot_be_read_refuses_it(tmp_path, place):
    _put(tmp_path, "models/marts/report.toml", place)

    assert ["models/marts/report.toml"] == _refused(tmp_path, "report")


def test_errors_of_a_model_that_its_settings_rename_are_its_own(tmp_path):
    files = {
        "models/marts/file.sql": "SELECT 1 AS a",
        "models/marts/file.toml": 'name = "own"\nnonsense = 1\n',
    }

    assert ["models/marts/file.toml"] == _refused(tmp_path, "own", files=files)
    kept = _kept(tmp_path, "own", "alone", files=files)
    assert {"built": ["alone"], "left out": ["own"]} == kept


@pytest.mark.parametrize("call", ["@broken(1)", "@through(1)", "@sound(@sound(x => @broken(1)))"])
def test_a_broken_macro_refuses_the_models_that_call_it(tmp_path, call):
    files = {
        **MACROS,
        "models/marts/caller.sql": f"SELECT {call} AS a",
        "models/marts/reader.sql": "SELECT a FROM caller",
        "models/marts/other.sql": "SELECT @sound(1) AS a -- not @broken(1)",
    }

    assert ["macros/broken.sql"] == _refused(tmp_path, "caller", files=files)
    assert ["macros/broken.sql"] == _refused(tmp_path, "+reader", files=files)
    assert [] == _refused(tmp_path, "other", files=files)
    kept = _kept(tmp_path, "caller+", "other", files=files)
    assert {"built": ["other"], "left out": ["caller"]} == kept


def test_a_broken_macro_refuses_the_models_whose_tests_call_it(tmp_path):
    test = '[[tests]]\ntype = "expression"\nexpression = "@through(a) > 0"\n'
    files = {
        **MACROS,
        "models/marts/tested.sql": "SELECT 1 AS a",
        "models/marts/tested.toml": test,
    }

    assert ["macros/broken.sql"] == _refused(tmp_path, "tested", files=files)
    assert [] == _refused(tmp_path, "alone", files=files)


def test_a_broken_macro_in_the_checks_of_a_pipeline_is_an_error_of_the_settings(tmp_path):
    quality = (
        '[pipeline.checks]\ntype = "quality"\ntables = [{ catalog = "c", schema = "s" }]\n'
        "[pipeline.checks.checks]\nenabled = true\n"
        '[[pipeline.checks.checks.assertions]]\ntype = "expression"\ntable = "alone"\n'
        'expression = "@through(one) > 0"\n'
    )
    files = {**MACROS, "rocky.toml": SHOP["rocky.toml"] + quality}

    found = config_findings(compiled(tmp_path, files))

    assert ["macros/broken.sql"] == [each.path for each in found]


@pytest.mark.parametrize("place", UNREADABLE)
def test_a_call_that_nobody_declares_is_refused_where_a_declaration_cannot_be_read(tmp_path, place):
    _put(tmp_path, "functions/own.toml", place)
    files = {**UNKNOWN, "models/marts/caller.sql": "SELECT zz_unlike_any_other(1) AS a"}

    assert ["functions/own.toml"] == _refused(tmp_path, "caller", files=files)
    assert [] == _refused(tmp_path, "alone", files=files)
    kept = _kept(tmp_path, "caller", "alone", files=files)
    assert {"built": ["alone"], "left out": ["caller"]} == kept


def test_a_call_that_nobody_declares_is_taken_where_all_declarations_can_be_read(tmp_path):
    files = {
        **UNKNOWN,
        "models/marts/caller.sql": "SELECT zz_unlike_any_other(1) AS a",
        "functions/twice.sql": "CREATE FUNCTION twice(x INT) RETURNS INT RETURN nope * 2",
    }

    assert [] == _refused(tmp_path, "caller", files=files)


@pytest.mark.parametrize("place", UNREADABLE)
@pytest.mark.parametrize("folder", ["sources", "sources/deep"])
def test_a_table_that_nobody_declares_is_refused_where_a_declaration_cannot_be_read(
    tmp_path, folder, place
):
    name = f"{folder}/own.toml"
    _put(tmp_path, name, place)
    files = {
        **UNKNOWN,
        "models/marts/reader.sql": "SELECT a FROM lake.events",
        "models/marts/above.sql": "SELECT a FROM reader",
    }

    assert [name] == _refused(tmp_path, "reader", files=files)
    assert [name] == _refused(tmp_path, "+above", files=files)
    assert [] == _refused(tmp_path, "alone", "stg_orders", files=files)
    kept = _kept(tmp_path, "reader+", "alone", files=files)
    assert {"built": ["alone"], "left out": ["reader"]} == kept


@pytest.mark.parametrize("link", ["sources/linked", "sources"])
def test_a_folder_of_declarations_that_leads_nowhere_refuses_what_nobody_declares(tmp_path, link):
    files = {**UNKNOWN, "models/marts/reader.sql": "SELECT a FROM lake.events"}
    compiled(tmp_path, files)
    if link == "sources":
        shutil.move(tmp_path / "sources", tmp_path / "elsewhere")
    _put(tmp_path, link, _dangling)

    found = compile_project(load_project(tmp_path, env={}), jobs=1, cache=False)
    _, refused = plan_checked(found, RunRequest(("reader",)))

    said = f"`{link}` is a symbolic link to a folder that does not exist"
    assert [said] == [each.message for each in refused]


def test_a_table_that_nobody_declares_is_taken_where_all_declarations_can_be_read(tmp_path):
    files = {
        **UNKNOWN,
        "models/marts/reader.sql": "SELECT a FROM lake.events",
        "models/marts/wrong.sql": "SELECT nope FROM alone",
        "sources/other.toml": '[[source]]\nname = "raw.other"\n',
    }
    _put(tmp_path, "sources/notes.md", _dangling)

    assert [] == _refused(tmp_path, "reader", files=files)


def test_what_reads_an_error_through_a_table_that_was_not_asked_for_is_left_out(tmp_path):
    files = {
        "models/marts/one.sql": "SELECT nope FROM raw.orders",
        "models/marts/two.sql": "SELECT * FROM one",
        "models/marts/three.sql": "SELECT * FROM two",
        "models/marts/four.sql": "SELECT * FROM three",
    }

    kept = _kept(tmp_path, "one", "three", "alone", files=files)
    deeper = _kept(tmp_path, "one", "two", "four", "alone", files=files)

    assert {"built": ["alone"], "left out": ["one", "three"]} == kept
    assert {"built": ["alone"], "left out": ["four", "one"]} == deeper
