from dataclasses import replace

import pytest

from rocky.ledger.run_records import InputRecord
from rocky.plan.steps import Read
from rocky.run.engine.protocol import SourcePin
from rocky.run.prepare.driving_input import MOST_LOOKED_UP_BYTES, find_driving_input
from rocky.run.prepare.known_inputs import KnownInput
from tests.run.test_input_pieces import source


def known(name: str, size: int | None, root) -> KnownInput:
    found = (source(root, "parquet"), SourcePin((("file:///a", size or 0, 1),)))
    read = Read("source", f"raw.{name}")
    return KnownInput(read, name, None, None, InputRecord(name), size, found=found)


@pytest.fixture
def inputs(tmp_path):
    sizes = {"t": 10**9, "u": MOST_LOOKED_UP_BYTES, "v": MOST_LOOKED_UP_BYTES + 1, "w": None}
    return {("raw", name): known(name, size, tmp_path) for name, size in sizes.items()}


JOINED = "SELECT t.a, u.b FROM raw.t LEFT JOIN raw.{} AS u ON t.a = u.a"


def test_rows_are_those_of_the_table_that_others_are_looked_up_for(inputs):
    assert inputs["raw", "t"] == find_driving_input(JOINED.format("u"), inputs.get)


@pytest.mark.parametrize("other", ["v", "w", "t", "unknown"])
def test_what_is_not_known_to_be_little_is_not_sent_to_every_task(inputs, other):
    assert find_driving_input(JOINED.format(other), inputs.get) is None


def test_a_query_in_place_of_a_table_is_not_looked_up(inputs):
    inputs["raw", "u"] = replace(inputs["raw", "u"], found=None)

    assert find_driving_input(JOINED.format("u"), inputs.get) is None


def test_two_names_of_one_table_are_one_table(inputs):
    inputs["raw", "u"] = replace(inputs["raw", "u"], read=inputs["raw", "t"].read)

    assert find_driving_input(JOINED.format("u"), inputs.get) is None


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
    assert find_driving_input(sql, inputs.get) is None


def test_views_of_one_input_have_names_of_their_own(inputs):
    one = inputs["raw", "t"]

    assert 4 == len(
        {one.view}
        | {replace(one, pieces=pieces).view for pieces in (2, 3)}
        | {replace(one, looked_up=True).view}
    )
