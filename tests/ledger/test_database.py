"""Files that are not a ledger, or not ours to use: named, never touched, never taken for absent."""

import os
import sqlite3
from contextlib import closing
from threading import Timer

import pytest

from rocky.errors import LedgerLocked, LedgerUnreadable, LedgerUnwritable
from rocky.ledger import open_history_reader, open_ledger
from rocky.ledger.database import _keep_a_log
from rocky.ledger.run_records import RunStatus
from rocky.ledger.schema import TABLES
from rocky.ledger.writer import ModelRecords
from tests.ledger.conftest import START, a_model, a_run

unprivileged = pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")


@pytest.fixture
def recorded(path):
    """A ledger with one finished run."""
    with open_ledger(path) as ledger:
        run_id = ledger.begin_run(a_run())
        ledger.record_models(run_id, [ModelRecords(a_model())])
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    return path


def test_reading_an_absent_ledger_finds_none_and_makes_none(path):
    assert None is open_history_reader(path)
    assert [] == list(path.parent.iterdir())


def test_an_empty_file_is_an_empty_ledger(path):
    path.touch()

    assert None is open_history_reader(path)
    with open_ledger(path) as ledger, ledger.reader() as reader:
        assert 0 == reader.totals().runs


def test_reading_leaves_no_file_behind(recorded):
    before = sorted(recorded.parent.iterdir())
    with open_history_reader(recorded) as reader:
        reader.runs()

    assert before == sorted(recorded.parent.iterdir())


def test_a_reader_cannot_write(recorded):
    with open_history_reader(recorded) as reader, pytest.raises(sqlite3.OperationalError):
        reader._connection.execute("DELETE FROM run_history")


@pytest.mark.parametrize("open_it", [open_ledger, open_history_reader])
class TestBoth:
    """What stops a writer stops a reader."""

    def test_a_text_file_is_not_a_ledger_and_stays_as_it_is(self, open_it, path):
        path.write_text("hello, this is not a database at all\n" * 40)
        before = path.read_bytes()

        with pytest.raises(LedgerUnreadable, match=r"`.*` is not a state file; move it away, or"):
            open_it(path)
        assert before == path.read_bytes()

    def test_somebody_elses_database_is_refused_and_stays_as_it_is(self, open_it, path):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE metadata (id INTEGER)")
        before = path.read_bytes()

        with pytest.raises(LedgerUnreadable, match="is a database, but not a state file of Rocky"):
            open_it(path)
        assert before == path.read_bytes()
        assert [path] == list(path.parent.iterdir())

    def test_a_newer_schema_is_refused_and_stays_as_it_is(self, open_it, recorded):
        with closing(sqlite3.connect(recorded)) as connection:
            connection.execute("UPDATE metadata SET value = '7' WHERE key = 'schema_version'")
            connection.commit()
        before = recorded.read_bytes()

        with pytest.raises(LedgerUnreadable, match=r"newer Rocky \(schema 7, this one knows up to"):
            open_it(recorded)
        assert before == recorded.read_bytes()

    def test_a_truncated_ledger_is_refused(self, open_it, recorded):
        recorded.write_bytes(recorded.read_bytes()[:5000])

        with pytest.raises(LedgerUnreadable, match="cannot be read"):
            open_it(recorded)

    def test_a_ledger_that_lost_a_table_is_refused(self, open_it, recorded):
        with closing(sqlite3.connect(recorded)) as connection:
            connection.execute("DROP TABLE run_history")

        with pytest.raises(LedgerUnreadable, match="has lost its table `run_history`"):
            open_it(recorded)

    def test_a_folder_is_not_a_ledger(self, open_it, path):
        path.mkdir()

        with pytest.raises(LedgerUnreadable, match=r"is a folder, not a state file; name another"):
            open_it(path)

    def test_a_path_below_a_file_is_no_absent_ledger(self, open_it, recorded):
        with pytest.raises(LedgerUnreadable, match="cannot be read \\(not a directory\\)"):
            open_it(recorded / "state.db")

    def test_a_path_with_odd_letters_works(self, open_it, tmp_path):
        path = tmp_path / "größe 100% #1?.db"
        open_ledger(path).close()
        open_it(path).close()

        assert path.exists()


def test_an_older_schema_is_brought_forward_by_a_writer(recorded):
    with closing(sqlite3.connect(recorded)) as connection:
        connection.execute("UPDATE metadata SET value = '0' WHERE key = 'schema_version'")
        connection.execute("DROP TABLE loaded_files")
        connection.commit()
    with open_ledger(recorded) as ledger, ledger.reader() as reader:
        assert (6, 1) == (reader.schema_version, reader.totals().runs)
    with closing(sqlite3.connect(recorded)) as connection:
        assert set(TABLES) == {
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(LedgerUnwritable, match=r"no folder `.*nowhere` for the state file; make"):
        open_ledger(tmp_path / "nowhere" / "state.db")


def test_a_file_that_is_to_get_a_log_is_waited_for_while_another_writes_it(recorded):
    with closing(sqlite3.connect(recorded)) as connection:
        assert ("delete",) == connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    other = sqlite3.connect(recorded, isolation_level=None, check_same_thread=False)
    with closing(other):
        other.execute("BEGIN IMMEDIATE")
        ended = Timer(0.1, other.execute, ["ROLLBACK"])
        ended.start()
        # SQLite gives up at once here, whatever the patience of the connection.
        with open_ledger(recorded, patience=10) as ledger:
            assert 1 == len(ledger.reader().runs())
        ended.join()
    with closing(sqlite3.connect(recorded)) as connection:
        assert ("wal",) == connection.execute("PRAGMA journal_mode").fetchone()


def test_a_file_that_has_a_log_is_opened_while_another_writes_it(recorded):
    with closing(sqlite3.connect(recorded, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(sqlite3.connect(recorded)) as connection:
            _keep_a_log(connection, patience=0)


def test_a_locked_ledger_says_so_and_lets_readers_in(recorded):
    with closing(sqlite3.connect(recorded, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(LedgerLocked, match="is locked by another process; wait until"):
            open_ledger(recorded, patience=0.05)
        with open_history_reader(recorded, patience=0.05) as reader:
            assert 1 == reader.totals().runs


def test_a_ledger_locked_for_everybody_is_not_an_absent_one(recorded):
    with closing(sqlite3.connect(recorded, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(LedgerLocked):
            open_history_reader(recorded, patience=0.05)


def test_a_tampered_row_is_named(recorded):
    with closing(sqlite3.connect(recorded)) as connection:
        connection.execute("UPDATE model_executions SET value = '{\"model_name\": 3}'")
        connection.commit()
    with open_history_reader(recorded) as reader, pytest.raises(LedgerUnreadable) as caught:
        reader.executions("fct_revenue")

    assert "`run-20260530-110422-643|fct_revenue` in `model_executions`" in str(caught.value)
    assert "unexpected int `3`" in str(caught.value)


@unprivileged
def test_a_file_in_a_folder_that_cannot_be_written_is_still_read(recorded):
    recorded.chmod(0o444)
    recorded.parent.chmod(0o555)
    try:
        with open_history_reader(recorded) as reader:
            assert 1 == reader.totals().runs
        with pytest.raises(LedgerUnwritable, match="cannot be written"):
            open_ledger(recorded)
    finally:
        recorded.parent.chmod(0o755)


@unprivileged
def test_a_file_that_may_not_be_read_is_not_an_absent_one(recorded):
    recorded.chmod(0)

    with pytest.raises(LedgerUnreadable):
        open_history_reader(recorded)
