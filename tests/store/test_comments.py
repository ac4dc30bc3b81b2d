"""Comments of tables and columns: Delta readers see them, and nobody loses what is not ours."""

import json

import pytest
from deltalake import DeltaTable

from rocky.language.datatypes.types import BIGINT, STRING, StructField
from rocky.store.delta.change import Change
from rocky.store.delta.comments import Comments, comments_of, differ
from tests.store.tables import COLUMNS, place, reopened, table_in

NAMED = (*COLUMNS, StructField("name", STRING, True))


@pytest.fixture
def table(tmp_path):
    return table_in(tmp_path)


def write(table, number, comments=None, *, operation="REPLACE", schema=COLUMNS):
    rows = {"id": [number], "name": ["n"]} if schema is NAMED else {"id": [number]}
    return table.commit(
        Change(
            operation,
            table.snapshot(),
            schema,
            (),
            (place(table, rows),),
            comments=comments,
        )
    ).snapshot


def as_others_see(table):
    """The comments as another Delta reader finds them."""
    found = DeltaTable(table.uri)
    fields = json.loads(found.schema().to_json())["fields"]
    columns = {
        each["name"]: each["metadata"]["comment"]
        for each in fields
        if "comment" in each["metadata"]
    }
    return found.metadata().description, columns


def test_comments_are_in_the_log_for_every_reader(table):
    write(table, 1, Comments("orders", {"id": "the order"}))

    assert ("orders", {"id": "the order"}) == as_others_see(table)
    assert Comments("orders", {"id": "the order"}) == comments_of(reopened(table).snapshot())


def test_comments_stay_until_the_project_says_something_else(table):
    write(table, 1, Comments("orders", {"id": "the order"}))
    write(table, 2)
    assert ("orders", {"id": "the order"}) == as_others_see(table)

    write(table, 3, Comments("all orders", {}), operation="APPEND")
    assert ("all orders", {}) == as_others_see(table)

    write(table, 4, Comments())
    assert (None, {}) == as_others_see(table)


def test_a_new_column_leaves_the_comments_of_others_alone(table):
    write(table, 1, Comments(None, {"id": "the order"}))
    write(table, 2, schema=NAMED, operation="APPEND")
    assert (None, {"id": "the order"}) == as_others_see(table)

    write(table, 3, Comments(None, {"id": "the order", "name": "who"}), schema=NAMED)
    assert (None, {"id": "the order", "name": "who"}) == as_others_see(table)


def test_what_somebody_else_wrote_stays_while_the_project_says_nothing(table):
    write(table, 1)
    DeltaTable(table.uri).alter.set_table_description("theirs")
    DeltaTable(table.uri).alter.set_column_metadata("id", {"comment": "their id", "x": "y"})
    theirs = reopened(table)
    write(theirs, 2, Comments())
    assert ("theirs", {"id": "their id"}) == as_others_see(theirs)

    write(theirs, 3, Comments("ours", {"id": "our id"}))
    write(theirs, 4, Comments())
    assert (None, {}) == as_others_see(theirs)
    (field,) = json.loads(theirs.snapshot().metadata["schemaString"])["fields"]
    assert {"x": "y"} == field["metadata"]


def test_a_difference_is_seen_before_a_commit(table):
    said = Comments("orders", {"id": "the order", "gone": "no such column"})
    snapshot = write(table, 1, said)

    assert not differ(said, snapshot)
    assert differ(Comments("orders", {}), snapshot)
    assert differ(Comments(None, {"id": "the order"}), snapshot)
    assert not differ(Comments(), write(table, 2, Comments()))


def test_a_table_without_comments_has_a_log_as_before(table):
    write(table, 1, Comments())
    (field,) = json.loads(table.snapshot().metadata["schemaString"])["fields"]

    assert {"name": "id", "type": "long", "nullable": True, "metadata": {}} == field
    assert "description" not in table.snapshot().metadata
    assert BIGINT is table.snapshot().schema[0].type
