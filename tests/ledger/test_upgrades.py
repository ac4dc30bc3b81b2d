"""Files that every older version left, as its own code wrote them, brought forward by this one."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from rocky.evidence.verification import verify_evidence
from rocky.ledger import SCHEMA_VERSION, open_evidence_reader, open_history_reader, open_ledger
from rocky.ledger.chain import CHAINED
from rocky.ledger.database import find_version
from rocky.ledger.run_records import RunStatus
from rocky.store.warehouse import open_warehouse
from tests.ledger.chains import faults
from tests.ledger.conftest import START, a_run
from tests.ledger.test_processes import PRELUDE
from tests.processes import run_process, run_program

OLD = Path(__file__).parent / "old"
VERSIONS = range(1, SCHEMA_VERSION)
FIRST, SECOND = "run-20260102-030405-678", "run-20260103-030405-678"

# Ends as a kill does, when all that is new was made and nothing is committed yet.
KILLED = """
import rocky.ledger.database as database
make = database.create_tables
def create_tables(connection):
    make(connection)
    database.RowWriter(connection, path).begin_chain()
    print("made", flush=True)
    os._exit(9)
database.create_tables = create_tables
open_ledger(path)
"""


@pytest.fixture(params=VERSIONS, ids=lambda version: f"schema {version}")
def version(request) -> int:
    return request.param


@pytest.fixture
def old(version, path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.executescript((OLD / f"schema_{version}.sql").read_text())
    return path


def evidence_of(path):
    with open_evidence_reader(path) as evidence:
        return {name: dict(evidence.rows(name)) for name in CHAINED}


def test_there_is_a_file_of_every_older_version():
    assert [f"schema_{each}.sql" for each in VERSIONS] == sorted(
        each.name for each in OLD.iterdir()
    )


def test_an_old_file_is_read_without_being_changed(old, version):
    before = old.read_bytes()
    with open_history_reader(old) as reader:
        assert [SECOND, FIRST] == [each.run_id for each in reader.runs()]
        assert ["Größe", "Orders"] == sorted(
            each.model_name for each in reader.run(FIRST).models_executed
        )
        assert ["2026-01-02T10:00:00Z"] == [each.last_value for each in reader.watermarks()]

    assert (version, before) == (find_version(old), old.read_bytes())


def test_all_rows_survive_and_are_in_the_chain(old, tmp_path):
    before = evidence_of(old)
    with open_ledger(old):
        pass

    assert before == evidence_of(old)
    assert (SCHEMA_VERSION, []) == (find_version(old), faults(old))


def test_nothing_is_found_in_a_file_that_was_brought_forward_and_written_on(old, tmp_path):
    place = tmp_path / "warehouse"
    with open_ledger(old) as ledger:
        run_id = ledger.begin_run(a_run(START + timedelta(days=1), warehouse="/warehouse"))
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
    with open_evidence_reader(old) as reader:
        found = verify_evidence(reader, lambda _: open_warehouse(str(place), base=tmp_path))

    assert ((), 3) == (found.findings, found.checked["runs"])
    with open_history_reader(old) as reader:
        assert reader.run(SECOND).died


def test_an_upgrade_that_is_killed_leaves_the_old_file_to_be_used(old, version):
    before = evidence_of(old)
    code, said, _ = run_process(run_program, PRELUDE + KILLED, str(old))
    assert (9, "made\n") == (code, said)

    assert (version, before) == (find_version(old), evidence_of(old))
    with open_ledger(old):
        pass
    assert (SCHEMA_VERSION, []) == (find_version(old), faults(old))


def test_a_file_of_a_newer_version_is_named_by_its_version(old):
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("UPDATE metadata SET value = '99' WHERE key = 'schema_version'")
        connection.commit()

    assert 99 == find_version(old)
