from dataclasses import replace

import pytest

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import STRING, StructField
from rocky.ledger.run_records import InputRecord
from rocky.plan.steps import Read
from rocky.run.engine.protocol import SourcePin
from rocky.run.prepare.driving_input import MOST_LOOKED_UP_BYTES, find_driving_input
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom
from tests.run.test_input_pieces import source


def known(name: str, size: int | None, root) -> KnownInput:
    table = replace(source(root, "parquet"), columns=(StructField("a", STRING, True),))
    found = (table, SourcePin((("file:///a", size or 0, 1),)))
    read = Read("source", f"raw.{name}")
    return KnownInput(read, name, None, None, InputRecord(name), size, found=found)


@pytest.fixture
def inputs(tmp_path):
    sizes = {"t": 10**9, "u": MOST_LOOKED_UP_BYTES, "v": MOST_LOOKED_UP_BYTES + 1, "w": None}
    return {("raw", name): known(name, size, tmp_path) for name, size in sizes.items()}


def find(sql: str, inputs, *read: str) -> KnownInput | None:
    """The driving input of a query that reads these tables."""
    known = tuple(inputs["raw", name] for name in read if ("raw", name) in inputs)
    return find_driving_input(sql, MadeFrom(None, known, None, None, named=inputs.get))


JOINED = "SELECT t.a, u.b FROM raw.t LEFT JOIN raw.{} AS u ON t.a = u.a"


def test_rows_are_those_of_the_table_that_others_are_looked_up_for(inputs):
    assert inputs["raw", "t"] == find(JOINED.format("u"), inputs, "t", "u")
    assert inputs["raw", "t"] == find("SELECT a FROM raw.t", inputs, "t")


@pytest.mark.parametrize("other", ["v", "w", "t", "unknown"])
def test_what_is_not_known_to_be_little_is_not_sent_to_every_task(inputs, other):
    assert find(JOINED.format(other), inputs, "t", other) is None


def test_nothing_is_sent_that_the_text_does_not_name(inputs):
    assert find(JOINED.format("u"), inputs, "t", "u", "v") is None


def test_a_query_in_place_of_a_table_is_not_looked_up(inputs):
    inputs["raw", "u"] = replace(inputs["raw", "u"], found=None)

    assert find(JOINED.format("u"), inputs, "t", "u") is None


@pytest.mark.parametrize("name", ["t", "u"])
@pytest.mark.parametrize("text", ["string collate utf8_lcase", "array<string collate unicode_ci>"])
def test_texts_with_a_collation_are_not_looked_up(inputs, name, text):
    known = inputs["raw", name]
    table, pin = known.found
    columns = (*table.columns, StructField("c", parse_type(text), True))
    inputs["raw", name] = replace(known, found=(replace(table, columns=columns), pin))

    assert find(JOINED.format("u"), inputs, "t", "u") is None


@pytest.mark.parametrize("key", ["t.a COLLATE UTF8_LCASE", "collate(t.a, 'UNICODE_CI')"])
def test_nor_are_texts_that_get_one_in_the_query(inputs, key):
    assert find(f"{JOINED.format('u')} AND {key} = u.b", inputs, "t", "u") is None


def test_tables_of_unknown_columns_are_not_looked_up(inputs):
    known = inputs["raw", "u"]
    inputs["raw", "u"] = replace(known, found=(replace(known.found[0], columns=()), known.found[1]))

    assert find(JOINED.format("u"), inputs, "t", "u") is None


def test_two_names_of_one_table_are_one_table(inputs):
    inputs["raw", "u"] = replace(inputs["raw", "u"], read=inputs["raw", "t"].read)

    assert find(JOINED.format("u"), inputs, "t", "u") is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, count(*) AS n FROM raw.t GROUP BY a",
        "SELECT max(a) AS a FROM raw.t",
        "SELECT explode(array(a)) AS a FROM raw.t",
        "SELECT CAST(rand() AS STRING) AS a FROM raw.t",
        "SELECT nobody_knows(a) AS a FROM raw.t",
    ],
)
def test_no_table_drives_a_query_that_is_not_row_wise(inputs, sql):
    assert find(sql, inputs, "t") is None


def test_views_of_one_input_have_names_of_their_own(inputs):
    one = inputs["raw", "t"]

    assert 4 == len(
        {one.view}
        | {replace(one, pieces=pieces).view for pieces in (2, 3)}
        | {replace(one, looked_up=True).view}
    )
