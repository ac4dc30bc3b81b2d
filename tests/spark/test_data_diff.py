"""Rows of two states compared on Spark, with values of every kind of type."""

from functools import partial

import pytest

from rocky.branches.row_diff import (
    TableComparison,
    TableState,
    ValueChange,
    choose_key,
    compare_states,
)
from rocky.run.engine.spark import SparkEngine
from rocky.spark.connection import adopt_session
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change
from rocky.store.warehouse import open_warehouse
from tests.store.tables import ORDERS

pytestmark = pytest.mark.spark

ROWS = """
SELECT id, CAST(id AS DECIMAL(10, 2)) AS amount, timestamp'2026-01-01' AS seen,
  map('a', id, 'b', {value}) AS tags, array(struct({value} AS x, map('k', id) AS m)) AS parts,
  named_struct('at', date'9999-12-31', 'raw', X'00FF') AS deep, parse_json(concat('[1, ', {value}, ']')) AS doc,
  IF(id = 3, NULL, double('NaN')) AS ratio, {typed} AS typed
FROM VALUES (1), (2), (3), ({last}) AS t(id)
"""
BEFORE = ROWS.format(value="0", typed="id", last="4")
AFTER = ROWS.format(value="IF(id = 2, 9, 0)", typed="CAST(id AS STRING)", last="5")


def test_nested_values_are_compared_and_shown(spark, tmp_path):
    engine = SparkEngine(adopt_session(spark, {}), tmp_path)
    states = [state_of(engine, tmp_path, name, sql) for name, sql in (("a", BEFORE), ("b", AFTER))]

    found = compare_states(comparison(*states, key=("id",)), lambda: engine)

    assert (1, 1, 1) == (found.added, found.removed, found.changed)
    assert {"tags": 1, "parts": 1, "doc": 1} == found.changed_by_column
    (row,) = found.sample
    assert {"id": "2"} == row.key
    assert ValueChange("{a -> 2, b -> 0}", "{a -> 2, b -> 9}") == row.columns["tags"]
    assert ValueChange("[1,0]", "[1,9]") == row.columns["doc"]
    assert () == found.columns_not_compared

    whole = compare_states(comparison(*states, key=()), lambda: engine)
    assert (2, 2, None) == (whole.added, whole.removed, whole.changed)


def comparison(before, after, key):
    return TableComparison(
        "orders", before, after, partial(choose_key, "orders", None, key), sample=5
    )


def state_of(engine, folder, name, sql):
    table = open_warehouse(name, base=folder).table(ORDERS)
    frame = engine.frame(sql)
    columns = engine.columns(frame)
    written = engine.write(frame, table, Layout(), columns, frozenset())
    change = Change("REPLACE", None, columns, (), written.files)
    return TableState(table, table.commit(change).snapshot)
