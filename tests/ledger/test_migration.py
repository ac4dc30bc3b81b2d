"""Files of the first version, which had no chain: read as they are, chained when written to."""

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from rocky.ledger import (
    SCHEMA_VERSION,
    open_evidence_reader,
    open_history_reader,
    open_ledger,
    open_lookup_reader,
)
from rocky.ledger.run_records import RunStatus
from tests.ledger.chains import chain_of, faults, pointers_to
from tests.ledger.conftest import START, a_run

# What the first version made, table by table.
TABLES = (
    "run_history",
    "model_executions",
    "run_progress",
    "output_artifacts",
    "input_index",
    "input_provenance",
    "branches",
    "watermarks",
    "check_history",
    "partitions",
    "grace_periods",
    "idempotency_keys",
    "loaded_files",
    "metadata",
)
RUN = "run-20260101-000000-000"
MODEL = (
    '{"duration_ms":5,"finished_at":"2026-01-01T00:00:02.000000Z","model_name":"Orders",'
    '"sql_hash":"ab","started_at":"2026-01-01T00:00:01.000000Z","status":"success"}'
)
# Not as it would be written today: what is stored is chained, not what it means.
HISTORY = (
    '{"config_hash": "c", "hostname": "h", "models_executed": [],'
    ' "rocky_version": "0.3.0", "run_id": "run-20260101-000000-000",'
    ' "started_at": "2026-01-01T00:00:00.000000Z", "status": "Success", "trigger": "Manual"}'
)
ARTIFACT = (
    '{"blake3_hash":"ab","commit_version":1,"file_path":"t/ab.parquet","model_name":"Orders",'
    '"run_id":"run-20260101-000000-000","size_bytes":9,"written_at":"2026-01-01T00:00:02.000000Z"}'
)


@pytest.fixture
def old(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        for name in TABLES:
            connection.execute(
                f"CREATE TABLE {name} (key TEXT PRIMARY KEY NOT NULL,"
                " value TEXT NOT NULL CHECK (json_valid(value)))"
            )
        connection.execute(
            "CREATE INDEX runs_running ON run_history (key)"
            " WHERE json_extract(value, '$.status') = 'Running'"
        )
        connection.execute("INSERT INTO metadata VALUES ('schema_version', '1')")
        connection.execute("INSERT INTO run_history VALUES (?, ?)", (RUN, HISTORY))
        connection.execute("INSERT INTO model_executions VALUES (?, ?)", (f"{RUN}|orders", MODEL))
        connection.executemany(
            "INSERT INTO output_artifacts VALUES (?, ?)",
            [(f"{RUN}|Orders|{name}.parquet", ARTIFACT) for name in ("b", "a")],
        )
        connection.execute("INSERT INTO run_progress VALUES ('x', '{}')")
        connection.commit()
    return path


def test_an_old_file_is_read_as_it_is_and_has_no_chain(old):
    before = old.read_bytes()
    with (
        open_history_reader(old) as reader,
        open_lookup_reader(old) as lookups,
        open_evidence_reader(old) as evidence,
    ):
        assert (1, RUN) == (reader.schema_version, reader.run("latest").run_id)
        assert [RUN] == [each.run_id for each in lookups.last_executions(["orders"]).values()]
        assert 2 == pointers_to(evidence, "ab")
        assert (None, []) == (evidence.ledger_id, chain_of(evidence))
        assert ((), 2) == (evidence.collected(), len(list(evidence.rows("output_artifacts"))))
    assert before == old.read_bytes()


def test_the_first_write_chains_what_is_there_as_it_is_and_in_order(old):
    with open_ledger(old) as ledger:
        assert 5 == ledger.head().seq
    with open_evidence_reader(old) as evidence:
        written = [(each.table, each.key) for each in chain_of(evidence)]
        assert [(RUN, HISTORY)] == list(evidence.rows("run_history"))

    assert [
        ("metadata", "ledger_id"),
        ("run_history", RUN),
        ("model_executions", f"{RUN}|orders"),
        ("output_artifacts", f"{RUN}|Orders|a.parquet"),
        ("output_artifacts", f"{RUN}|Orders|b.parquet"),
    ] == written
    assert [] == faults(old)


def test_an_old_file_is_written_on_and_chained_once(old):
    for hour in (1, 2):
        with open_ledger(old) as ledger:
            run_id = ledger.begin_run(a_run(START + timedelta(hours=hour)))
            ledger.finish_run(run_id, RunStatus.SUCCESS, START)

    with open_history_reader(old) as reader:
        assert (SCHEMA_VERSION, 3) == (reader.schema_version, reader.totals().runs)
    with open_evidence_reader(old) as evidence:
        assert 9 == chain_of(evidence)[-1].seq
    assert [] == faults(old)


def test_a_run_that_died_under_the_old_version_is_recorded_as_dead(old):
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("UPDATE run_history SET value = replace(value, 'Success', 'Running')")
        connection.commit()
    with open_ledger(old) as ledger, ledger.reader() as reader:
        ledger.begin_run(a_run())
        dead = reader.run(RUN)

    assert (True, ["Orders"]) == (dead.died, [each.model_name for each in dead.models_executed])
    assert [] == faults(old)
