"""Lineage from Python."""

import pytest

from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.check.explain import ExplainRequest, explain
from rocky.operations.graph.lineage import LineageRequest, lineage
from tests.operations.projects import GOOD, open_project


def test_a_model_has_its_neighbours_and_edges(tmp_path):
    found = lineage(open_project(tmp_path, GOOD), LineageRequest("good"))

    assert (("raw.orders",), ("reader",)) == (found.upstream, found.downstream)
    assert (("raw.orders", "good"), ("good", "reader")) == found.graph
    assert ("raw.orders.order_id", "good.order_id", "direct") in [
        (str(each.source), str(each.target), each.transform) for each in found.edges
    ]


def test_a_column_is_traced_the_way_that_is_asked(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    up = lineage(workspace, LineageRequest("reader.order_id"))
    down = lineage(workspace, LineageRequest("raw.orders", "order_id", downstream=True))

    assert ("upstream", ["good", "raw.orders"]) == (up.direction, [e.model for e in up.reached])
    assert ["good.order_id", "reader.order_id"] == [str(e) for e in down.downstream_consumers]


def test_two_columns_contradict_each_other_and_unknown_ones_are_refused(tmp_path):
    workspace = open_project(tmp_path, GOOD)

    with pytest.raises(InvalidRequest, match="leave one of them out"):
        lineage(workspace, LineageRequest("good.amount", "order_id"))
    with pytest.raises(NothingSelected, match="did you mean `amount`"):
        lineage(workspace, LineageRequest("good.amuont"))


def test_a_code_is_explained_by_its_name():
    assert "E003" == explain(ExplainRequest("unknown-column")).code
    with pytest.raises(NothingSelected, match="no diagnostic is called `Q999`"):
        explain(ExplainRequest("Q999"))


def test_a_project_has_all_its_models_and_what_each_reads(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    found = lineage(workspace, LineageRequest())

    assert {"good": "model", "reader": "model", "raw.orders": "source"}.items() <= {
        each.model: each.kind for each in found.nodes
    }.items()
    assert {("raw.orders", "good"), ("good", "reader")} <= {
        (each.source, each.target) for each in found.edges
    }
    for wrong in ({"column": "a"}, {"upstream": True}, {"downstream": True}):
        with pytest.raises(InvalidRequest, match="is of a model: name it"):
            lineage(workspace, LineageRequest(**wrong))


def test_a_notebook_shows_lineage_as_a_picture_with_the_table_below(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    for target, focus in (("good", "model good"), ("good.order_id", "model good.order_id")):
        found = lineage(workspace, LineageRequest(target))
        html = found._repr_html_()
        assert html.startswith(found._repr_svg_())
        assert '<g class="model focus">' + f"<title>{focus}</title>" in html
        assert "<title>source raw.orders" in html
        assert "<details><summary>as a table" in html
        assert "<table>" in html
    assert "<title>model reader</title>" in lineage(workspace, LineageRequest()).to_svg()


UNKNOWN = {
    "rocky.toml": '[compile]\nundeclared = "unknown"\n\n[pipeline.p]\nmodels = "models/**"\n',
    "models/everything.sql": "SELECT * FROM lake.events\n",
    "models/some.sql": "SELECT a, 7 AS k FROM lake.events\n",
    "models/top.sql": "SELECT e.x, s.a FROM everything AS e CROSS JOIN some AS s\n",
    "models/told.sql": "SELECT nope FROM some_typed\n",
    "models/some_typed.sql": "SELECT 1 AS one\n",
}
DISCOVER = "rocky discover lake.events --write"


def unknown_of(workspace, target):
    found = lineage(workspace, LineageRequest(target)).unknown
    return [(each.source, each.target, each.command) for each in found]


def test_a_column_through_a_star_over_an_unknown_table_is_traced_to_the_table(tmp_path):
    workspace = open_project(tmp_path, UNKNOWN)
    edge = ("lake.events", "everything", DISCOVER)

    assert [edge] == unknown_of(workspace, "everything.whatever")
    assert [edge] == unknown_of(workspace, "everything")
    assert [("everything", "top", None), ("some", "top", None), edge,
            ("lake.events", "some", DISCOVER)] == unknown_of(workspace, "top.x")  # fmt: skip


def test_a_way_that_is_known_by_column_ends_in_the_unknown_table(tmp_path):
    workspace = open_project(tmp_path, UNKNOWN)

    report = lineage(workspace, LineageRequest("top.a"))
    assert [("some", "a")] == [(each.source.model, each.source.column) for each in report.trace]
    assert [("lake.events", "some", DISCOVER)] == unknown_of(workspace, "top.a")
    assert [] == unknown_of(workspace, "some.k")


def test_what_no_unknown_table_can_have_is_still_no_column(tmp_path):
    workspace = open_project(tmp_path, UNKNOWN)

    with pytest.raises(NothingSelected, match="no column `nope`"):
        lineage(workspace, LineageRequest("some_typed.nope"))
    with pytest.raises(NothingSelected, match=f"`lake.events` are not known: `{DISCOVER}`"):
        lineage(workspace, LineageRequest("lake.events.x"))
    assert [] == unknown_of(workspace, "told")
