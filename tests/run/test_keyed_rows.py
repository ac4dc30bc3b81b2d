"""Keyed rows: which queries hand their rows over once, by which columns, into how many tasks."""

from dataclasses import replace

import pytest

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.ledger.run_records import InputRecord
from rocky.plan.steps import Read
from rocky.run.engine.protocol import SourcePin
from rocky.run.prepare.driving_input import MOST_LOOKED_UP_BYTES
from rocky.run.prepare.keyed_rows import KeyedRows, find_keyed_rows
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom
from tests.run.test_input_pieces import source

COLUMNS = {"a": "string", "k": "bigint", "j": "int"}


def known(name: str, size: int | None, root) -> KnownInput:
    table = replace(source(root, "parquet"), columns=columns_of(COLUMNS))
    found = (table, SourcePin((("file:///a", size or 0, 1),)))
    read = Read("source", f"raw.{name}")
    return KnownInput(read, name, None, None, InputRecord(name), size, found=found)


def columns_of(given: dict[str, str]) -> tuple[StructField, ...]:
    return tuple(StructField(name, parse_type(text), True) for name, text in given.items())


@pytest.fixture
def inputs(tmp_path):
    large, little = MOST_LOOKED_UP_BYTES + 1, MOST_LOOKED_UP_BYTES
    sizes = {"t": large, "u": large, "v": large, "small": little}
    return {("raw", name): known(name, size, tmp_path) for name, size in sizes.items()}


def retype(inputs, table: str, **columns: str) -> None:
    one = inputs["raw", table]
    changed = replace(one.found[0], columns=columns_of(COLUMNS | columns))
    inputs["raw", table] = replace(one, found=(changed, one.found[1]))


def find(sql: str, inputs, *read: str) -> KeyedRows | None:
    """How a query that reads these tables hands its rows over."""
    known = tuple(inputs["raw", name] for name in read)
    return find_keyed_rows(sql, MadeFrom(None, known, None, None, named=inputs.get))


def told(sql: str, found: KeyedRows) -> dict[str, str]:
    """What Spark gets in place of each name."""
    hints = found.hints(5)
    return {sql[at.start : at.end]: hint("view") for at, hint in hints.items()}


RANKED = "SELECT a, rank() OVER (PARTITION BY a ORDER BY b) AS n FROM raw.t WHERE {} > 1"


def test_rows_of_windows_are_handed_over_by_what_they_are_over(inputs):
    sql = RANKED.format("lower(b)")
    found = find(sql, inputs, "t")

    assert {"raw.t": HANDED.replace("`k`", "`a`")} == told(sql, found)
    assert ("a", "b") == found.order


@pytest.mark.parametrize("call", ["rand()", "nobody_knows(a)", "collate(a, 'UNICODE_CI')"])
def test_not_where_a_function_makes_more_than_a_value_of_a_row(inputs, call):
    assert find(RANKED.format(call), inputs, "t") is None
    assert find(f"{JOINED} WHERE {call} > 1", inputs, "t", "u") is None


@pytest.mark.parametrize("given", ["count(*)", "explode(t.a)", "max(t.a)", "sum(u.k) + 1"])
def test_nor_where_a_join_gives_more_or_less_than_a_row_of_a_row(inputs, given):
    sql = JOINED.replace("t.k, t.a", f"{given} AS n")

    assert find(sql, inputs, "t", "u") is None
    assert find(f"SELECT {given} AS n FROM ({JOINED}) AS t", inputs, "t", "u") is None


def test_nor_where_windows_read_another_table_too(inputs):
    assert find(RANKED.format("b"), inputs, "t", "u") is None
    assert find(RANKED.format("b").replace("rank", "nobody_knows"), inputs, "t") is None


JOINED = "SELECT t.k, t.a FROM raw.t JOIN raw.u ON t.k = u.k"
HANDED = "SELECT /*+ REPARTITION(5, `k`) */ * FROM view"
# A filter that Spark does not move: without it, it hands both sides over into more tasks if the
# session asks for more.
KEPT = f"SELECT * FROM ({HANDED}) WHERE monotonically_increasing_id() >= 0"
UNFIT = ["double", "float", "array<int>", "binary"]


@pytest.mark.parametrize("text", [*UNFIT, "string collate unicode_ci"])
def test_nor_by_columns_that_spark_compares_otherwise_than_it_hands_rows_over(inputs, text):
    retype(inputs, "t", a=text, k=text)
    retype(inputs, "u", k=text)

    assert find(RANKED.format("b"), inputs, "t") is None
    assert find(JOINED, inputs, "t", "u") is None


def test_what_is_joined_by_one_column_is_handed_over_by_it(inputs):
    sql = f"{JOINED} LEFT JOIN raw.v ON v.k = t.k"
    found = find(sql, inputs, "t", "u", "v")

    assert {"raw.t": HANDED, "raw.u": KEPT, "raw.v": KEPT} == told(sql, found)
    assert ("k",) == found.order


def test_what_is_little_is_sent_to_every_task(inputs):
    sql = "SELECT t.a FROM raw.t JOIN raw.small ON t.a = small.a AND t.j = 5 JOIN raw.u USING (k)"

    sent = "SELECT /*+ BROADCAST(view) */ * FROM view"
    found = find(sql, inputs, "t", "u", "small")
    assert {"raw.t": HANDED, "raw.small": sent, "raw.u": KEPT} == told(sql, found)


@pytest.mark.parametrize("kind", ["LEFT SEMI", "SEMI", "LEFT ANTI", "ANTI"])
def test_not_for_joins_that_only_ask_for_rows_unless_of_little_tables(inputs, kind):
    sql = f"SELECT t.k FROM raw.t {kind} JOIN raw.u ON t.k = u.k"
    beside = f"{JOINED} {kind} JOIN raw.{{0}} ON t.k = {{0}}.k"

    assert find(sql, inputs, "t", "u") is None
    assert find(beside.format("v"), inputs, "t", "u", "v") is None
    assert find(beside.format("small"), inputs, "t", "u", "small") is not None


def test_of_several_columns_that_one_is_taken_that_serves_all_joins(inputs):
    sql = "SELECT t.a FROM raw.t JOIN raw.small ON t.a = small.a JOIN raw.u ON t.k = u.k"
    found = find(sql, inputs, "t", "u", "small")

    assert HANDED == told(sql, found)["raw.t"]
    assert find(sql.replace("small", "v"), inputs, "t", "u", "v") is None


def test_what_is_joined_only_with_little_tables_is_not_handed_over(inputs):
    assert find(JOINED.replace("raw.u", "raw.small AS u"), inputs, "t", "small") is None


ASKED = {
    f"{JOINED} WHERE t.a > 'a'": True,
    f"{JOINED} WHERE u.a > 'a'": False,
    f"{JOINED} WHERE a > 'a'": False,
    f"{JOINED} WHERE u.st.x > 1": False,
    f"{JOINED} WHERE t.st.x > 1": True,
    f"{JOINED} WHERE st.x > 1": False,
    f"SELECT * FROM ({JOINED}) AS r WHERE a > 'a'": False,
}


@pytest.mark.parametrize("sql", ASKED)
def test_what_is_joined_is_not_handed_over_where_that_keeps_spark_from_dropping_rows(inputs, sql):
    assert ASKED[sql] == (find(sql, inputs, "t", "u") is not None)


def test_nor_where_the_rows_that_others_are_joined_to_are_few(inputs):
    assert (
        find(JOINED.replace("raw.t JOIN raw.u", "raw.small t JOIN raw.u"), inputs, "small") is None
    )


def test_columns_of_two_types_do_not_meet_where_they_are_handed_over(inputs):
    retype(inputs, "u", k="int")

    assert find(JOINED, inputs, "t", "u") is None


def test_tables_whose_columns_nobody_knows_are_handed_over_as_spark_likes(inputs):
    inputs["raw", "u"] = replace(inputs["raw", "u"], found=None)

    assert find(JOINED, inputs, "t", "u") is None
