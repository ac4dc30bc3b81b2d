"""Rows that say how things stand: compared with the chain before anything is done by them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rocky.errors import LedgerUnreadable
from rocky.ledger import open_ledger
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.row_evidence import REMEMBERED, check_row, check_rows_below, check_table
from tests.ledger.chains import faults

OTHERS = [
    "DELETE FROM {table} WHERE key = 't|a'",
    "UPDATE {table} SET value = '[2]' WHERE key = 't|a'",
    "UPDATE {table} SET value = CAST('[1]' AS BLOB) WHERE key = 't|a'",
    "INSERT INTO {table} VALUES ('t|new', '[1]')",
]


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def put(path: Path, table: str, key: str, value: str = "[1]") -> None:
    with open_ledger(path) as ledger, ledger.transaction() as rows:
        rows.put(table, key, value)


def remove(path: Path, table: str, key: str) -> None:
    with open_ledger(path) as ledger, ledger.transaction() as rows:
        rows.remove(table, key)


def check(path: Path, table: str, key: str = "t|a") -> None:
    with closing(sqlite3.connect(path)) as connection:
        check_row(connection, path, table, key)
        check_rows_below(connection, path, table, "t")
        check_table(connection, path, table)


@pytest.mark.parametrize("table", REMEMBERED)
def test_what_rocky_wrote_wrote_again_and_removed_is_as_the_chain_says(tmp_path, table):
    path = tmp_path / "state.db"
    put(path, table, "t|a")
    put(path, table, "t|b")
    check(path, table)
    put(path, table, "t|a", "[2]")
    check(path, table)
    remove(path, table, "t|a")
    check(path, table)
    put(path, table, "t|a", "[3]")
    check(path, table)

    assert [] == faults(path)


@pytest.mark.parametrize("statement", OTHERS)
@pytest.mark.parametrize("table", REMEMBERED)
def test_what_somebody_else_did_to_a_row_is_told_from_what_rocky_did(tmp_path, table, statement):
    path = tmp_path / "state.db"
    put(path, table, "t|a")
    put(path, table, "u|a")
    execute(path, statement.format(table=table))
    key = "t|new" if "new" in statement else "t|a"

    with closing(sqlite3.connect(path)) as connection:
        for look in (
            lambda: check_row(connection, path, table, key),
            lambda: check_rows_below(connection, path, table, "t"),
            lambda: check_table(connection, path, table),
        ):
            with pytest.raises(LedgerUnreadable, match=f"`{key[0]}.*` in `{table}` (is|was)"):
                look()
        check_row(connection, path, table, "u|a")
        check_rows_below(connection, path, table, "u")


@pytest.mark.parametrize("statement", OTHERS)
@pytest.mark.parametrize("table", REMEMBERED)
def test_writing_a_row_does_not_make_good_what_somebody_else_did_to_it(tmp_path, table, statement):
    path = tmp_path / "state.db"
    put(path, table, "t|a")
    execute(path, statement.format(table=table))
    key = "t|new" if "new" in statement else "t|a"
    before = faults(path)

    with pytest.raises(LedgerUnreadable, match=r"something other than Rocky did that"):
        put(path, table, key, "[4]")
    if "DELETE" in statement:
        remove(path, table, key)
    else:
        with pytest.raises(LedgerUnreadable, match=r"something other than Rocky did that"):
            remove(path, table, key)

    assert [] != before == faults(path)


def test_a_row_of_another_table_or_a_longer_name_is_none_of_its_rows(tmp_path):
    path = tmp_path / "state.db"
    put(path, "loaded_files", "t|a")
    put(path, "loaded_files", "t2|a")
    put(path, "grace_periods", "t|a")
    execute(path, "DELETE FROM loaded_files WHERE key = 't2|a'")
    execute(path, "DELETE FROM grace_periods")

    with closing(sqlite3.connect(path)) as connection:
        check_rows_below(connection, path, "loaded_files", "t")


def test_a_file_without_the_index_of_these_entries_is_asked_all_the_same(tmp_path):
    path = tmp_path / "state.db"
    put(path, "watermarks", "t")
    execute(path, "DROP INDEX entries_of_remembered")
    execute(path, "DELETE FROM watermarks")

    reader = open_lookup_reader(path)
    assert reader is not None
    with reader, pytest.raises(LedgerUnreadable, match="is gone"):
        reader.check_remembered("t", "t")
