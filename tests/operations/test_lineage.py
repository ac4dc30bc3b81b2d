"""Lineage from Python."""

import pytest

from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.explain import ExplainRequest, explain
from rocky.operations.lineage import LineageRequest, lineage
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
