"""Owner and tags in the log of a table: every reader of the format finds them."""

import json

import pytest
from deltalake import DeltaTable

from rocky.language.datatypes.types import BIGINT, STRING, StructField, struct
from rocky.store.delta.change import Change
from rocky.store.delta.comments import Comments, comments_of, differ
from rocky.store.delta.labels import CLASSIFICATION, OWNER, Labels
from tests.store.tables import place, reopened, table_in

COLUMNS = (
    StructField("Email", STRING, True),
    StructField("address", struct((StructField("street", STRING, True),)), True),
    StructField("id", BIGINT, True),
)
PEOPLE = Labels(
    {OWNER: "crm", CLASSIFICATION: "pii, gdpr"},
    {
        "email": {CLASSIFICATION: "pii, gdpr"},
        "address": {f"{CLASSIFICATION}.street": "pii"},
    },
)
SAID = Comments("people", {"id": "a number"}, PEOPLE)


@pytest.fixture
def table(tmp_path):
    return table_in(tmp_path)


def write(table, number, comments=None, operation="REPLACE"):
    rows = {"Email": ["a@b.c"], "address": [{"street": "Elm Row"}], "id": [number]}
    files = (place(table, rows),)
    change = Change(operation, table.snapshot(), COLUMNS, (), files, comments=comments)
    return table.commit(change).snapshot


def as_others_see(table):
    """Properties and column metadata below `rocky.`, as another Delta reader finds them."""
    found = DeltaTable(table.uri)
    fields = json.loads(found.schema().to_json())["fields"]
    columns = {
        each["name"]: {key: text for key, text in each["metadata"].items() if "rocky.c" in key}
        for each in fields
    }
    properties = found.metadata().configuration
    return {key: properties[key] for key in (OWNER, CLASSIFICATION) if key in properties}, columns


def test_owner_and_tags_are_in_the_log_for_every_reader(table):
    write(table, 1, SAID)

    properties, columns = as_others_see(table)
    assert {"rocky.owner": "crm", "rocky.classification": "pii, gdpr"} == properties
    assert {"rocky.classification": "pii, gdpr"} == columns["Email"]
    assert {"rocky.classification.street": "pii"} == columns["address"]
    assert SAID == comments_of(reopened(table).snapshot())


def test_labels_stay_with_a_commit_that_says_nothing_and_go_with_one_that_says_none(table):
    write(table, 1, SAID)
    write(table, 2)
    assert PEOPLE == comments_of(reopened(table).snapshot()).labels
    write(table, 3, operation="APPEND")
    assert PEOPLE == comments_of(reopened(table).snapshot()).labels

    write(table, 4, SAID._replace(labels=Labels({OWNER: "hr"})))
    assert ({OWNER: "hr"}, {"Email": {}, "address": {}}) == (
        as_others_see(table)[0],
        {name: each for name, each in as_others_see(table)[1].items() if name != "id"},
    )
    write(table, 5, Comments())
    assert Comments() == comments_of(reopened(table).snapshot())


def test_a_difference_of_labels_is_seen_before_a_commit(table):
    snapshot = write(table, 1, SAID)

    assert not differ(SAID, snapshot)
    assert differ(Comments("people", {"id": "a number"}), snapshot)
    assert differ(SAID._replace(labels=Labels(PEOPLE.table)), snapshot)
    assert differ(SAID._replace(labels=Labels(columns=PEOPLE.columns)), snapshot)
    bare = write(table, 2, Comments())
    assert differ(Comments(labels=Labels(columns={"email": {CLASSIFICATION: "pii"}})), bare)


def test_what_others_note_beside_a_column_stays(table):
    write(table, 1, SAID)
    DeltaTable(table.uri).alter.set_column_metadata("Email", {"x": "y"})
    theirs = reopened(table)
    write(theirs, 2, Comments())

    fields = json.loads(theirs.snapshot().metadata["schemaString"])["fields"]
    assert {"x": "y"} == fields[0]["metadata"]


def test_a_star_stands_for_columns_that_nobody_knows(table):
    write(table, 1, Comments(labels=Labels(columns={"*": {CLASSIFICATION: "pii"}})))

    assert {"Email", "address", "id"} == {
        name for name, each in as_others_see(table)[1].items() if each
    }
