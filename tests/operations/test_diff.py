"""Diffs from Python: the gate, and a side that does not compile."""

import pytest

from rocky.errors import NotComparable, NothingSelected
from rocky.operations.changes.broken_sides import SidesBroken
from rocky.operations.changes.diff import DiffRequest, diff
from rocky.operations.report import encode_report
from rocky.operations.workspace import Workspace
from tests.cli.conftest import CONFIG, ORDERS
from tests.operations.projects import GOOD
from tests.project.git.repos import make_repo


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A repository whose working tree is as its last commit."""
    files = {"rocky.toml": CONFIG, "sources/raw.toml": ORDERS, ".gitignore": ".rocky/\n", **GOOD}
    return Workspace(make_repo(tmp_path / "repo", files).root)


def change(workspace, sql):
    (workspace.config / "models/good.sql").write_text(sql)


def asked(**more):
    return DiffRequest("HEAD", **more)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "verdict", "breaking", "any_change"),
    [
        (GOOD["models/good.sql"], "unchanged", False, False),
        ("SELECT order_id, amount, status FROM raw.orders\n", "info", False, True),
        ("SELECT order_id FROM raw.orders\n", "breaking", True, True),
    ],
)
def test_the_gate_is_the_report_s(workspace, sql, verdict, breaking, any_change):
    change(workspace, sql)
    found = [diff(workspace, asked(fail_on=each)).head for each in (None, "breaking", "any")]

    assert {verdict} == {each.verdict for each in found}
    assert [False, breaking, any_change] == [each.failed for each in found]


@pytest.mark.slow
def test_a_change_reaches_columns_and_the_comment_says_so(workspace):
    change(workspace, "SELECT CAST(order_id AS STRING) AS order_id, amount FROM raw.orders\n")
    counted, reaching = diff(workspace, asked()), diff(workspace, asked(reach=True))
    (table,) = (each for each in reaching.results if each.table.model_name == "good")
    retyped = next(e for e in table.column_changes if e.change.change_type == "column_type_changed")

    assert ["reader.order_id"] == [f"{e.model}.{e.column}" for e in retyped.downstream_consumers]
    assert "column_type_changed" in [each.change.change_type for each in counted.breaking_findings]
    assert counted.markdown.startswith("<!-- rocky ci-diff -->")
    assert reaching.markdown.startswith("<!-- rocky lineage-diff -->")


def test_a_side_that_does_not_compile_is_compared_with_nothing(workspace):
    change(workspace, "SELECT nope FROM raw.orders\n")
    with pytest.raises(SidesBroken, match="the working tree does not compile") as refused:
        diff(workspace, asked(fail_on="any"))
    document = encode_report(refused.value.report)

    assert isinstance(refused.value, NotComparable)
    assert "NotComparable" == document["error"]["kind"]
    assert [("head", "E003")] == [
        (each["side"], each["diagnostics"][0]["code"]) for each in document["broken"]
    ]


@pytest.mark.parametrize("fail_on", [None, "breaking", "any"])
def test_a_part_that_compiles_is_told_and_no_gate_passes_for_it(workspace, fail_on):
    change(workspace, "SELECT order_id AS id, amount FROM raw.orders\n")
    with pytest.raises(SidesBroken, match=r"so only 1 of 2 models were compared") as refused:
        diff(workspace, asked(fail_on=fail_on))
    document = encode_report(refused.value.report)

    assert 1 == document["compared_models"]
    assert [("good", ["column_renamed"])] == [
        (each["model_name"], [one["change_type"] for one in each["column_changes"]])
        for each in document["models"]
    ]
    (broken,) = document["broken_models"]
    assert ("reader", "head", ["order_id"], ["good"]) == tuple(
        broken[key] for key in ("model_name", "side", "lost_columns", "affected_by")
    )
    assert ("E003", 1) == (broken["finding"]["code"], broken["finding"]["span"]["line"])


@pytest.mark.slow
def test_a_part_is_of_the_models_that_are_asked_for(workspace):
    change(workspace, "SELECT order_id AS id, amount FROM raw.orders\n")
    with pytest.raises(SidesBroken) as refused:
        diff(workspace, asked(models=("reader",)))

    assert () == refused.value.report.models
    assert ["reader"] == [each.model_name for each in refused.value.report.broken_models]
    with pytest.raises(NothingSelected, match="did you mean `good`"):
        diff(workspace, asked(models=("goood",)))


def test_a_name_that_neither_side_has_is_refused(workspace):
    with pytest.raises(NothingSelected, match="did you mean `good`"):
        diff(workspace, asked(models=("goood",)))
