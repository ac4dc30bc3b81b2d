"""The column graph that is kept with a compilation, beside one that is made anew and as a whole."""

import pytest

from rocky.analysis.column_graph import column_graph
from rocky.analysis.lineage import ColumnRef, Lineage
from rocky.operations.graph.path import PathRequest, find_path
from rocky.operations.workspace import compile_workspace
from rocky.project.pipeline_tables import copies_of
from rocky.protocol.memory import FILES, GIT, LEDGER, Memory
from tests.operations.projects import GOOD, open_project

FILES_OF = GOOD | {
    "models/Wide.sql": "SELECT a.order_id AS Id, b.amount, a.amount * b.amount AS both"
    " FROM good AS a JOIN reader AS r ON a.order_id = r.order_id"
    " JOIN raw.orders AS b ON b.order_id = a.order_id WHERE b.amount > 1",
    "models/after.sql": "SELECT sum(BOTH) AS total, id FROM wide GROUP BY id",
}


def made_anew(compilation):
    """All models as they are bound, and an index of all of them, in the order of their names."""
    project = compilation.project
    tables = {
        each.name: [field.name for field in each.columns]
        for group in (project.sources, project.seeds)
        for each in group.values()
    }
    models = {key: compilation.models[key] for key in sorted(compilation.models)}
    return Lineage(models, tables, copies_of(project.sources))


@pytest.mark.parametrize("direction", ["upstream", "downstream"])
def test_it_answers_as_one_that_is_made_anew_and_whole(tmp_path, direction):
    compilation = compile_workspace(open_project(tmp_path, FILES_OF))
    kept, whole = column_graph(compilation), made_anew(compilation)
    columns = [
        ColumnRef(table.name, column.name)
        for table in compilation.project.sources.values()
        for column in table.columns
    ] + [ColumnRef(ir.name, each.name) for ir in compilation.models.values() for each in ir.columns]

    assert {"after", "Wide"} <= {each.table for each in columns}
    for column in (*columns, *columns):
        assert whole.trace(column, direction) == kept.trace(column, direction)
        assert whole.hops_into(column) == kept.hops_into(column)
        assert whole.rows_from(column) == kept.rows_from(column)


def test_a_question_makes_what_lies_on_its_way_once(tmp_path, monkeypatch):
    compilation = compile_workspace(open_project(tmp_path, FILES_OF))
    looked: list[str] = []
    unpack = compilation.models.record
    monkeypatch.setattr(
        type(compilation.models), "record", lambda _, key: looked.append(key) or unpack(key)
    )
    column_graph(compilation).trace(ColumnRef("Wide", "both"), "downstream")
    assert {"wide", "after"} == set(looked)
    looked.clear()
    column_graph(compilation).walk(ColumnRef("Wide", "both"), "downstream")
    assert [] == looked


def test_a_server_keeps_it_until_the_project_changes(tmp_path):
    memory = Memory(open_project(tmp_path, FILES_OF))
    before = column_graph(memory.compilation())
    for changed in (frozenset(), frozenset({LEDGER})):
        memory.forget(changed)
        assert before is column_graph(memory.compilation())
    (tmp_path / "models/after.sql").write_text("SELECT id FROM wide")
    memory.forget(frozenset({FILES}))
    assert before is not column_graph(memory.compilation())
    found = find_path(memory.workspace, PathRequest("wide.both"))
    assert (("Wide", "both"),) == found.columns
    kept = column_graph(memory.compilation())
    memory.forget(frozenset({GIT}))
    assert kept is not column_graph(memory.compilation())
