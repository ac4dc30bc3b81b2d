import json
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta

import pytest

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable, LedgerUnwritable
from rocky.ledger import open_ledger
from rocky.ledger.run_records import (
    ArtifactRecord,
    BudgetBreach,
    EngineRecord,
    PartitionRecord,
    PartitionStatus,
    ProgressStatus,
    RunStatus,
    TableProgress,
    TotalsRecord,
    WatermarkState,
)
from rocky.ledger.schema import TABLES
from rocky.ledger.writer import ModelRecords, PipelineRecords, RunFindings
from tests.ledger.conftest import START, a_model, a_run, recorded_run

END = START + timedelta(seconds=5)


def rows(path, table):
    """What somebody with nothing but SQLite sees."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(f"SELECT key, value FROM {table} ORDER BY key")
        return {key: json.loads(value) for key, value in found}


def test_a_new_ledger_has_every_table_as_key_and_json(path, ledger):
    with closing(sqlite3.connect(path)) as connection:
        shapes = {
            name: [row[1:3] for row in connection.execute(f"PRAGMA table_info({name})")]
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        mode = connection.execute("PRAGMA journal_mode").fetchone()

    assert {name: [("key", "TEXT"), ("value", "TEXT")] for name in TABLES} == shapes
    assert ("wal",) == mode
    assert {"ledger_id": ledger.ledger_id, "schema_version": 6} == rows(path, "metadata")


def test_a_value_that_is_not_json_is_refused_by_the_file_itself(path, ledger):
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO branches VALUES ('a', 'not json')")


def test_a_run_is_visible_as_running_from_its_first_moment(path, ledger):
    run_id = ledger.begin_run(a_run())

    assert "run-20260530-110422-643" == run_id
    assert "Running" == rows(path, "run_history")[run_id]["status"]


def test_two_runs_of_one_millisecond_get_two_ids(ledger):
    ids = [ledger.begin_run(a_run()) for _ in range(3)]

    assert [f"run-20260530-110422-{ms}" for ms in (643, 644, 645)] == ids


def test_an_id_rolls_over_into_the_next_second(ledger):
    last = START.replace(microsecond=999_000)
    ids = [ledger.begin_run(a_run(last)) for _ in range(2)]

    assert ["run-20260530-110422-999", "run-20260530-110423-000"] == ids


def test_a_model_is_there_before_its_run_has_ended(path, ledger):
    run_id = ledger.begin_run(a_run())
    ledger.record_models(run_id, [ModelRecords(a_model("Orders"))])

    assert {f"{run_id}|orders": a_model("Orders").to_json()} == rows(path, "model_executions")
    assert [] == rows(path, "run_history")[run_id]["models_executed"]


def test_a_run_that_has_ended_carries_its_models_in_the_order_they_began(path, ledger):
    run_id = ledger.begin_run(a_run())
    for name, after in (("b", 20), ("c", 30), ("a", 10)):
        ledger.record_models(run_id, [ModelRecords(a_model(name, after_ms=after))])
    totals = TotalsRecord(5000, models=3, cost_usd=0.5)
    breach = BudgetBreach("max_usd", 0.1, 0.5)
    ledger.finish_run(run_id, RunStatus.SUCCESS, END, found=RunFindings(totals, [breach]))
    finished = recorded_run(ledger, run_id)

    assert ["a", "b", "c"] == [each.model_name for each in finished.models_executed]
    assert finished.to_json() == rows(path, "run_history")[run_id]
    assert (END, totals, (breach,)) == (
        finished.finished_at,
        finished.totals,
        finished.budget_breaches,
    )


def test_ids_that_begin_alike_do_not_share_models(path, ledger):
    with closing(sqlite3.connect(path)) as connection:
        # No clock makes such an id, but a key must not depend on that.
        connection.execute(
            "INSERT INTO model_executions VALUES ('run-20260530-110422-6431|x', '{}')"
        )
        connection.commit()
    run_id = ledger.begin_run(a_run())
    ledger.record_models(run_id, [ModelRecords(a_model("mine"))])

    ledger.finish_run(run_id, RunStatus.SUCCESS, END)
    finished = recorded_run(ledger, run_id)
    assert ["mine"] == [each.model_name for each in finished.models_executed]


def test_what_the_engine_is_can_be_added_once_it_has_started(ledger):
    run_id = ledger.begin_run(a_run())
    engine = EngineRecord("4.1.4", "parquet-mr", {"spark.sql.session.timeZone": "UTC"})
    ledger.amend_run(run_id, engine=engine.to_json())

    ledger.finish_run(run_id, RunStatus.SUCCESS, END)
    assert engine == recorded_run(ledger, run_id).engine


def test_everything_about_a_model_is_written_or_nothing(path, ledger):
    run_id = ledger.begin_run(a_run())
    broken = ArtifactRecord("ab", run_id, "a", "x.parquet", 1, float("nan"), START)
    with pytest.raises(ValueError, match="not JSON compliant"):
        ledger.record_models(run_id, [ModelRecords(a_model("a"), [broken])])

    assert ({}, {}) == (rows(path, "model_executions"), rows(path, "output_artifacts"))
    ledger.record_models(run_id, [ModelRecords(a_model("a"))])


def test_artefacts_partitions_watermark_and_progress_lie_under_their_keys(path, ledger):
    run_id = ledger.begin_run(a_run())
    artifact = ArtifactRecord("ab12", run_id, "Daily", "s3://b/t/ab12.parquet", 7, 806, START)
    partition = PartitionRecord(
        "Daily", "2026-05-30", PartitionStatus.COMPUTED, START, 10, 5, run_id
    )
    watermark = WatermarkState("Main.marts.daily", "2026-05-30", START, "Daily", run_id)
    progress = TableProgress(0, "main.marts.daily", ("daily",), ProgressStatus.SUCCESS, 5, START)
    records = ModelRecords(
        a_model("Daily"),
        [artifact],
        [partition],
        watermark,
        pipeline=PipelineRecords(progress=progress),
    )
    ledger.record_models(run_id, [records])

    assert {f"{run_id}|Daily|s3://b/t/ab12.parquet"} == set(rows(path, "output_artifacts"))
    assert {"daily|2026-05-30"} == set(rows(path, "partitions"))
    assert {"main.marts.daily": watermark.to_json()} == rows(path, "watermarks")
    assert {f"{run_id}|main.marts.daily": progress.to_json()} == rows(path, "run_progress")


def test_threads_share_one_ledger(ledger):
    run_id = ledger.begin_run(a_run())
    names = [f"model_{index}" for index in range(40)]

    def record(mine):
        for name in mine:
            ledger.record_models(run_id, [ModelRecords(a_model(name))])

    threads = [threading.Thread(target=record, args=(names[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    ledger.finish_run(run_id, RunStatus.SUCCESS, END)
    finished = recorded_run(ledger, run_id)
    assert sorted(names) == sorted(each.model_name for each in finished.models_executed)


def test_a_number_that_only_sqlite_can_read_is_a_row_that_cannot_be_used(path, ledger):
    run_id = ledger.begin_run(a_run())
    ledger.record_models(run_id, [ModelRecords(a_model("orders"))])
    with closing(sqlite3.connect(path)) as tampered, tampered:
        tampered.execute(
            "UPDATE model_executions SET value = json_set(value, '$.x', json('1e400'))"
        )

    with pytest.raises(LedgerUnreadable, match="model_executions"):
        ledger.finish_run(run_id, RunStatus.SUCCESS, END)


def test_a_name_that_is_not_utf8_can_be_recorded(ledger):
    run_id = ledger.begin_run(a_run())
    ledger.record_models(run_id, [ModelRecords(a_model("caf\udce9"))])

    ledger.finish_run(run_id, RunStatus.SUCCESS, END)
    finished = recorded_run(ledger, run_id)
    assert ["caf\udce9"] == [each.model_name for each in finished.models_executed]


def test_keys_that_a_newer_rocky_added_to_a_run_are_kept_when_it_ends(path, ledger):
    run_id = ledger.begin_run(a_run())
    newer = {**rows(path, "run_history")[run_id], "colour": "blue"}
    with ledger.transaction() as written:
        written.put("run_history", run_id, record_json(newer))
    ledger.finish_run(run_id, RunStatus.SUCCESS, END)

    assert "blue" == rows(path, "run_history")[run_id]["colour"]


def test_a_state_file_deleted_under_a_run_is_noticed(path, ledger):
    run_id = ledger.begin_run(a_run())
    path.unlink()

    with pytest.raises(LedgerUnwritable, match="was deleted or replaced while it was in use"):
        ledger.record_models(run_id, [ModelRecords(a_model())])
    with pytest.raises(LedgerUnwritable, match="was deleted or replaced"):
        ledger.reader()


def test_opening_again_keeps_what_is_there(path):
    with open_ledger(path) as first:
        first.finish_run(first.begin_run(a_run()), RunStatus.SUCCESS, END)
    with open_ledger(path) as second, second.reader() as reader:
        assert 1 == reader.totals().runs
    assert [".rocky-state.db", ".rocky-state.db.runs"] == sorted(
        each.name for each in path.parent.iterdir()
    )
