"""What the page is told beyond its records: overlays, ways of columns, why, and queries checked."""

import subprocess

import pytest

from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.check.query import QueryRequest, check_project_query
from rocky.operations.execution.run import run
from rocky.operations.graph.path import PathRequest, find_path
from rocky.operations.migration.template import PlaygroundRequest, playground
from rocky.operations.page.docs import DocsRequest, docs
from rocky.operations.page.overlays import OverlayRequest, overlay
from rocky.operations.page.project_page import load_page
from rocky.operations.plan import preview_plan
from rocky.operations.plan.why import WhyRequest, why
from rocky.operations.report import encode_report
from rocky.operations.rows.show import ShowRequest, show
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from tests.operations.projects import GOOD, open_project
from tests.operations.sites import read_data, read_site


def states(workspace, name, base=None):
    """The state and the words of each table that an overlay speaks of."""
    page = load_page(workspace)
    found = overlay(workspace, page, OverlayRequest(name, base))
    assert found.unavailable is None, found.unavailable
    for place, state in enumerate(found.states):
        assert state.count == sum(each.state == place for each in found.tables)
    return {
        page.index.tables[each.table].name: (found.states[each.state].name, each.words)
        for each in found.tables
    }


def test_governance_says_which_columns_are_exposed_and_where_the_tag_is_from(tmp_path):
    tagged = {
        "models/good.toml": '[classification]\namount = "pii"\n',
        "models/other.sql": "SELECT 1 AS one\n",
        **GOOD,
    }
    found = states(open_project(tmp_path, tagged), "governance")

    assert {
        "good": ("exposed", "amount (pii)"),
        "reader": ("nothing classified", "none of 1 column has a tag"),
        "other": ("nothing classified", "none of 1 column has a tag"),
    } == found


@pytest.mark.slow
def test_replay_tells_what_is_recorded_from_what_may_come_out_differently(shop):
    shop.write("models/chance.sql", "SELECT rand() AS r")
    before = states(shop.workspace, "replay")
    assert {("not recorded", "no run of it is recorded")} == set(before.values())
    run(shop.workspace, RunRequest(exclude=("chance",)))

    found = states(shop.workspace, "replay")
    (record,) = shop.records()
    assert ("can be built again", f"built, recorded by {record.run_id}") == found["stg_orders"]
    assert "not recorded" == found["chance"][0]


@pytest.mark.slow
def test_breaking_names_the_change_and_leaves_the_rest_alone(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    for words in ("init -q -b main", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm one"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    assert {("unchanged", "as in the base")} == set(states(workspace, "breaking").values())
    (tmp_path / "models/reader.sql").write_text(
        "SELECT CAST(order_id AS STRING) AS order_id FROM good\n"
    )

    found = states(workspace, "breaking")
    assert "breaks readers" == found["reader"][0]
    assert "order_id" in found["reader"][1]
    assert "unchanged" == found["good"][0]


@pytest.mark.slow
def test_breaking_names_the_readers_that_a_rename_breaks(tmp_path):
    files = {**GOOD, "models/last.sql": "SELECT order_id FROM reader\n"}
    workspace = open_project(tmp_path, files)
    for words in ("init -q -b main", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm one"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    (tmp_path / "models/good.sql").write_text("SELECT order_id AS id, amount FROM raw.orders\n")

    found = states(workspace, "breaking")
    assert ("breaks readers", "order_id column renamed") == found["good"]
    assert "does not compile" == found["reader"][0]
    assert "E003: no column `order_id` in scope; lost order_id; by good" == found["reader"][1]
    assert ("affected", "by good, reader") == found["last"]
    report = overlay(workspace, load_page(workspace), OverlayRequest("breaking"))
    assert (
        "the working tree does not compile, so only 1 of 3 models were compared" == report.partial
    )


def test_an_overlay_that_cannot_look_says_why(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    found = overlay(workspace, load_page(workspace), OverlayRequest("breaking"))

    assert () == found.tables
    assert "repository" in found.unavailable


def test_a_site_brings_the_overlays_that_need_no_git(tmp_path):
    report = docs(open_project(tmp_path, GOOD), DocsRequest())
    index, _ = read_site(tmp_path / "target/docs")

    assert ["drift", "replay", "governance"] == index["overlays"]
    found = read_data(tmp_path / "target/docs", "overlay-replay")
    assert ["not recorded"] == [each["name"] for each in found["states"] if each["count"]]
    assert report.errors == 0


def test_a_column_is_followed_to_its_end_or_to_another(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    whole = find_path(workspace, PathRequest("raw.orders.order_id"))
    assert ["raw.orders", "good", "reader"] == [each.model for each in whole.columns]
    part = find_path(workspace, PathRequest("raw.orders.order_id", "good.order_id"))
    assert [(0, 1)] == [each[:2] for each in part.edges]
    none = find_path(workspace, PathRequest("raw.orders.amount", "reader.order_id"))
    assert ((("raw.orders", "amount"),), ()) == (none.columns, none.edges)
    with pytest.raises(InvalidRequest, match="is no column"):
        find_path(workspace, PathRequest("good"))


@pytest.mark.slow
def test_why_says_what_a_run_would_do_and_a_preview_keeps_no_plan(shop):
    assert ("build", "first build", None) == (
        (found := why(shop.workspace, WhyRequest("stg_orders"))).decision,
        found.reason,
        found.last_run,
    )
    run(shop.workspace, RunRequest())
    found = why(shop.workspace, WhyRequest("stg_orders"))
    assert ("built", shop.records()[0].run_id) == (found.last_outcome, found.last_run)
    preview_plan(shop.workspace, RunRequest())
    assert not (shop.root / ".rocky/plans").exists()


def test_why_answers_for_a_model_whose_inputs_were_never_built(shop):
    found = why(shop.workspace, WhyRequest("by_country"))
    assert ("build", "first build", ("countries", "stg_orders")) == (
        found.decision,
        found.reason,
        found.waits_for,
    )


def test_a_query_is_checked_against_the_project(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    found = check_project_query(workspace, QueryRequest("SELECT amount * 2 AS twice FROM good"))
    assert (True, ["twice"], ("good",)) == (
        found.ok,
        [each.name for each in found.columns],
        found.reads,
    )
    wrong = check_project_query(workspace, QueryRequest("SELECT amont FROM good"))
    assert (False, ["E003"]) == (wrong.ok, [each.code for each in wrong.diagnostics])


def test_rows_are_never_asked_of_spark_where_only_files_may_be_read(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    with pytest.raises(NothingSelected, match="only Spark"):
        show(workspace, ShowRequest("good", files_only=True))
    with pytest.raises(InvalidRequest, match="may need Spark"):
        show(workspace, ShowRequest(sql="SELECT 1", files_only=True))


def test_a_part_is_the_same_whatever_was_asked_before(tmp_path):
    root = tmp_path / "shop"
    playground(PlaygroundRequest(root))
    workspace = Workspace(root)
    one, other = load_page(workspace), load_page(workspace)
    # The graph of columns is made as it is walked: here first from the last table.
    for place in reversed(range(len(other.details))):
        assert other.details[place] == one.details[place]

    assert encode_report(other.part(0)) == encode_report(one.part(0))
