"""The file itself: what SQLite would do behind Rocky's back, and indexes that hide rows."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from rocky.errors import LedgerUnreadable
from rocky.evidence.seals import refuse_broken_chain
from rocky.ledger import open_evidence_reader, open_history_reader, open_ledger, schema
from rocky.ledger.readers.heads import open_heads_reader
from tests.run.runs import Shop, verify
from tools import verify_run
from tools.verify_run import main as script

FOREIGN = {
    "trigger `sly`": "CREATE TRIGGER sly AFTER INSERT ON run_history"
    " BEGIN DELETE FROM loaded_files; END",
    "view `sly`": "CREATE VIEW sly AS SELECT * FROM watermarks",
    "index `sly`": "CREATE INDEX sly ON watermarks (value)",
    "table `sly`": "CREATE TABLE sly (key TEXT)",
    "table `more`": "CREATE TABLE more (key TEXT PRIMARY KEY NOT NULL,"
    " value TEXT NOT NULL CHECK (json_valid(value)))",
}


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for each in statements:
            connection.execute(each)


@pytest.fixture
def path(tmp_path) -> Path:
    path = tmp_path / ".rocky-state.db"
    open_ledger(path).close()
    return path


@pytest.mark.parametrize("what", FOREIGN)
def test_what_rocky_did_not_make_is_refused_by_readers_writers_and_the_script(path, what, capsys):
    execute(path, FOREIGN[what])

    for look in (open_ledger, open_history_reader, open_evidence_reader):
        with pytest.raises(LedgerUnreadable, match=f"has the {what}, which Rocky did not make"):
            look(path)
    assert 2 == script([str(path)])
    assert f"the {what} is not Rocky's" in capsys.readouterr().err


def test_an_index_of_ours_with_other_contents_is_not_ours(path, capsys):
    execute(path, "DROP INDEX runs_running", "CREATE INDEX runs_running ON run_history (value)")

    with pytest.raises(LedgerUnreadable, match="the index `runs_running`"):
        open_ledger(path)
    assert 2 == script([str(path)])
    assert "the index `runs_running` is not Rocky's" in capsys.readouterr().err


def test_a_trigger_that_is_put_in_while_the_file_is_open_is_refused(path):
    with open_ledger(path) as ledger:
        execute(path, FOREIGN["trigger `sly`"])
        with pytest.raises(LedgerUnreadable, match="the trigger `sly`"), ledger.transaction():
            pass


def test_statistics_and_a_vacuum_are_no_harm(path, capsys):
    with open_ledger(path) as ledger, ledger.transaction() as rows:
        rows.put("watermarks", "t", "{}")
    execute(path, "ANALYZE", "VACUUM")

    open_ledger(path).close()
    script([str(path)])
    assert "cannot read" not in capsys.readouterr().err


def hide_rows(path: Path, index: str) -> None:
    """Make an index of no rows, and have the schema say that it is of all."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        asked = "SELECT sql FROM sqlite_master WHERE name = ?"
        (text,) = connection.execute(asked, (index,)).fetchone()
        connection.execute(f"DROP INDEX {index}")
        connection.execute(f"{text} WHERE 0")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, index))


@pytest.mark.slow
def test_an_index_that_hides_rows_is_found_and_nothing_is_sealed_by_it(tmp_path, capsys):
    shop = Shop(tmp_path)
    shop.run()
    path = tmp_path / ".rocky-state.db"
    hide_rows(path, "executions_by_model")

    with pytest.raises(LedgerUnreadable, match="is damaged"):
        verify(tmp_path)
    assert 2 == script([str(path)])
    assert "executions_by_model" in capsys.readouterr().err
    evidence, heads = open_evidence_reader(path), open_heads_reader(path)
    assert evidence is not None
    assert heads is not None
    with evidence, pytest.raises(LedgerUnreadable, match="executions_by_model"):
        refuse_broken_chain(evidence)
    with heads, pytest.raises(LedgerUnreadable, match="executions_by_model"):
        list(heads.newest_commits())


FAULTS_THAT_SQLITE_TELLS = 100


@pytest.mark.slow
@pytest.mark.parametrize("table", ["idempotency_keys", "run_progress", "metadata"])
def test_rows_that_hold_no_json_keep_no_fault_from_being_told(tmp_path, table):
    """SQLite tells of a hundred faults: these are no evidence, and would be all of them."""
    shop = Shop(tmp_path)
    shop.run()
    path = tmp_path / ".rocky-state.db"
    hide_rows(path, "executions_by_model")
    rows = ", ".join(f"('sly-{each}', '{{')" for each in range(FAULTS_THAT_SQLITE_TELLS))
    execute(path, "PRAGMA ignore_check_constraints = ON", f"INSERT INTO {table} VALUES {rows}")

    with pytest.raises(LedgerUnreadable, match="executions_by_model"):
        verify(tmp_path)
    evidence = open_evidence_reader(path)
    assert evidence is not None
    with evidence, pytest.raises(LedgerUnreadable, match="executions_by_model"):
        refuse_broken_chain(evidence)


@pytest.mark.slow
def test_rows_that_hold_no_json_are_no_damage(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    path = tmp_path / ".rocky-state.db"
    ignore = "PRAGMA ignore_check_constraints = ON"
    execute(path, ignore, "INSERT INTO idempotency_keys VALUES ('sly', '{')")

    assert [] == verify(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["a row beside it", "the row itself"])
def test_a_key_that_is_no_text_hides_no_row_from_the_script(tmp_path, capsys, hidden):
    """A blob equals no text, and both are the same bytes: of two such rows one would be read."""
    shop = Shop(tmp_path)
    shop.run()
    path = tmp_path / ".rocky-state.db"
    assert 0 == script([str(path)])
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if hidden == "the row itself":
            connection.execute("UPDATE run_history SET key = CAST(key AS BLOB)")
        else:
            connection.execute(
                "INSERT INTO run_history SELECT CAST(key AS BLOB), value FROM run_history"
            )
            connection.execute(
                "UPDATE run_history SET value = json_set(value, '$.hostname', 'trusted')"
                " WHERE typeof(key) = 'text'"
            )
    capsys.readouterr()

    assert 2 == script([str(path)])
    assert "`run_history` has a row that is no text" in capsys.readouterr().err
    assert verify(tmp_path)


@pytest.mark.slow
def test_a_journal_that_undoes_the_file_is_not_left_out_of_account(tmp_path, capsys):
    """Whoever opens the file next gets what the journal has: the script must not say otherwise."""
    shop = Shop(tmp_path)
    shop.run()
    path = tmp_path / ".rocky-state.db"
    journal = path.with_name(f"{path.name}-journal")
    said = "SELECT json_extract(value, '$.hostname') FROM run_history"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        (kept,) = connection.execute("SELECT value FROM run_history").fetchone()
        connection.execute("UPDATE run_history SET value = json_set(value, '$.hostname', 'sly')")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE run_history SET value = ?", (kept,))
        # Larger than the cache, so that the journal is on the disk before the file is written.
        connection.execute("CREATE TABLE large (it)")
        connection.execute("INSERT INTO large VALUES (zeroblob(200000))")
        connection.execute("DROP TABLE large")
        undoing = journal.read_bytes()
        connection.execute("COMMIT")
    assert 0 == script([str(path)])
    journal.write_bytes(undoing)
    capsys.readouterr()

    assert 2 == script([str(path)])
    assert "is not yet what it is to be" in capsys.readouterr().err
    assert journal.exists()
    with closing(sqlite3.connect(path)) as connection:
        assert ("sly",) == connection.execute(said).fetchone()
    assert verify(tmp_path)


def test_the_script_knows_the_same_tables_and_indexes():
    assert schema._SCHEMA == verify_run.SCHEMA
