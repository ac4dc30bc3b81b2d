"""The page of the Python API: it has every method, in order, and its examples do what they say."""

import inspect
import re

import pytest

import rocky
from rocky.api.analysis import Analysis
from rocky.api.records import Records
from tests.api.python_page import PAGE, run_page


def signature(name: str, function: object) -> str:
    """As it is called: without `self`, without types."""
    if isinstance(function, property):
        return name
    found = inspect.signature(function)
    parameters = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in found.parameters.values()
        if each.name != "self"
    ]
    return f"{name}{found.replace(parameters=parameters, return_annotation=found.empty)}"


def methods(kind: type) -> dict[str, object]:
    """Those of a workspace; what is asked of the past stands before what is about branches."""
    own = dict(vars(kind))
    branch = own.pop("branch")
    rest = {name: own.pop(name) for name in ("branches", "revert", "recover")}
    return {"branch": branch} | dict(vars(Analysis)) | own | dict(vars(Records)) | rest


def test_the_page_has_every_function_and_method_in_order():
    functions = {
        name: getattr(rocky, name)
        for name in rocky.__all__
        if inspect.isfunction(getattr(rocky, name))
    }
    public = [
        [signature(name, each) for name, each in members.items() if not name.startswith("_")]
        for members in (functions, methods(rocky.Workspace), vars(rocky.Branch))
    ]
    page = PAGE.read_text()
    sections = re.findall(
        r"^## (Functions|Workspace|Branch)\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL
    )

    assert public == [re.findall(r"^### `(.*)`$", text, re.MULTILINE) for _, text in sections]


def test_the_page_names_every_option_of_a_run():
    page = PAGE.read_text()
    section = page[page.index("### `run(") : page.index("### `plan(")]
    listed = re.findall(r"^\| `(\w+)", section, re.MULTILINE)

    assert [name for name in rocky.RunRequest.__slots__ if name != "select"] == listed


@pytest.mark.slow
def test_what_needs_no_spark_is_as_the_page_says(tmp_path, monkeypatch, bless):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()

    happened = run_page(page, tmp_path, {"sh", "python"})
    if bless:
        PAGE.write_text(happened)

    assert happened == PAGE.read_text()
