"""Row counts in the ledger: an array a table, of which the newest are kept."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from rocky.errors import LedgerUnreadable
from rocky.ledger.pipeline_records import RowCount
from rocky.ledger.pipeline_state import KEPT_COUNTS, append_counts, load_counts
from rocky.ledger.writer import open_ledger

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
TABLE = "Lake.acme.orders"


def count(number):
    return RowCount(number, NOON + timedelta(minutes=number))


def stored(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT key, value FROM check_history ORDER BY key").fetchall()


def test_a_history_is_an_array_under_the_tables_name(tmp_path):
    path = tmp_path / "state.db"
    with open_ledger(path) as ledger:
        append_counts(ledger, {TABLE: count(1)})
        append_counts(ledger, {TABLE: count(2), "lake.acme.items": count(7)})

    ((_, _), (key, value)) = stored(path)
    assert "lake.acme.orders" == key
    assert [
        {"count": 1, "timestamp": "2026-01-31T12:01:00.000000Z"},
        {"count": 2, "timestamp": "2026-01-31T12:02:00.000000Z"},
    ] == json.loads(value)
    assert {TABLE: (count(1), count(2)), "lake.other.t": ()} == load_counts(
        path, [TABLE, "lake.other.t"]
    )


def test_the_newest_counts_are_kept(tmp_path):
    path = tmp_path / "state.db"
    with open_ledger(path) as ledger:
        for number in range(KEPT_COUNTS + 5):
            append_counts(ledger, {TABLE: count(number)})

    assert tuple(map(count, range(5, KEPT_COUNTS + 5))) == load_counts(path, [TABLE])[TABLE]


def test_without_a_ledger_there_is_no_history(tmp_path):
    assert {TABLE: ()} == load_counts(tmp_path / "state.db", [TABLE])


@pytest.mark.parametrize("value", ['{"count": 1}', '[{"count": "1"}]', "[1]", '["x"]', "7"])
def test_a_history_that_cannot_be_read_is_no_first_run(tmp_path, value):
    path = tmp_path / "state.db"
    with open_ledger(path) as ledger:
        append_counts(ledger, {TABLE: count(1)})
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE check_history SET value = ?", (value,))
        connection.commit()

    with pytest.raises(LedgerUnreadable, match=r"`lake\.acme\.orders` in `check_history`"):
        load_counts(path, [TABLE])
    with open_ledger(path) as ledger, pytest.raises(LedgerUnreadable):
        append_counts(ledger, {TABLE: count(2)})
