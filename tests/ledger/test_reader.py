import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from rocky.errors import LedgerUnreadable
from rocky.ledger import open_history_reader, open_ledger
from rocky.ledger.run_records import (
    ArtifactRecord,
    ModelStatus,
    PartitionRecord,
    PartitionStatus,
    RunStatus,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords
from tests.ledger.conftest import START, a_model, a_run


@pytest.fixture
def history(path):
    """Five runs, a day apart; `a` ran in all of them, `b` only in the oldest."""
    with open_ledger(path) as ledger:
        for day in range(5):
            begun = START + timedelta(days=day)
            run_id = ledger.begin_run(a_run(begun))
            ledger.record_models(run_id, [ModelRecords(a_model("a", rows_affected=day))])
            if day == 0:
                ledger.record_models(
                    run_id, [ModelRecords(a_model("b", status=ModelStatus.FAILED))]
                )
            ledger.finish_run(run_id, RunStatus.SUCCESS, begun + timedelta(seconds=4))
    return path


@pytest.fixture
def reader(history):
    with open_history_reader(history) as opened:
        yield opened


def days(runs):
    return [each.started_at.day for each in runs]


def test_runs_come_newest_first(reader):
    assert [3, 2, 1, 31, 30] == days(reader.runs())


def test_a_limit_takes_the_newest(reader):
    assert [3, 2] == days(reader.runs(limit=2))
    assert () == reader.runs(limit=0)


def test_since_leaves_out_what_began_before(reader):
    assert [3, 2] == days(reader.runs(since=START + timedelta(days=3)))
    assert [3] == days(reader.runs(since=START + timedelta(days=3, milliseconds=1)))


def test_only_the_runs_that_are_shown_are_decoded(history, reader):
    with closing(sqlite3.connect(history)) as connection:
        connection.execute("UPDATE run_history SET value = '[]' WHERE key LIKE 'run-20260530%'")
        connection.commit()

    assert [3, 2, 1] == days(reader.runs(limit=3))
    with pytest.raises(LedgerUnreadable, match="`run-20260530-110422-643` in `run_history`"):
        reader.runs()


def test_one_run_is_found_by_its_id_or_as_the_latest(reader):
    assert START == reader.run("run-20260530-110422-643").started_at
    assert 3 == reader.run("latest").started_at.day
    assert None is reader.run("run-1")


def test_a_models_history_goes_back_to_the_beginning(reader):
    assert [4, 3, 2, 1, 0] == [each.execution.rows_affected for each in reader.executions("A")]
    assert ["run-20260530-110422-643"] == [each.run_id for each in reader.executions("b")]
    assert () == reader.executions("c")


def test_the_last_execution_is_the_newest(reader):
    assert 4 == reader.last_execution("a").execution.rows_affected
    assert ModelStatus.FAILED is reader.last_execution("b").execution.status
    assert None is reader.last_execution("nope")


def test_a_models_history_needs_no_look_at_other_models(history):
    with closing(sqlite3.connect(history)) as connection:
        plan = connection.execute(
            "EXPLAIN QUERY PLAN SELECT key, value FROM model_executions"
            " WHERE substr(key, instr(key, '|') + 1) = 'a' ORDER BY key DESC LIMIT 1"
        ).fetchall()

    assert ["SEARCH model_executions USING INDEX executions_by_model (<expr>=?)"] == [
        row[3] for row in plan
    ]


def test_a_running_run_is_shown_with_the_models_it_has_done(ledger, path):
    run_id = ledger.begin_run(a_run())
    ledger.record_models(run_id, [ModelRecords(a_model("b", after_ms=20))])
    ledger.record_models(run_id, [ModelRecords(a_model("a", after_ms=10))])
    with open_history_reader(path) as reader:
        run = reader.run("latest")

    assert RunStatus.RUNNING is run.status
    assert ["a", "b"] == [each.model_name for each in run.models_executed]


def test_a_reader_sees_what_is_committed_while_it_is_open(ledger):
    with ledger.reader() as reader:
        before = reader.runs()
        ledger.begin_run(a_run())

        assert (0, 1) == (len(before), len(reader.runs()))


def test_artefacts_partitions_and_watermarks_are_found(ledger):
    run_id = ledger.begin_run(a_run())
    artifacts = [
        ArtifactRecord(name, run_id, "daily", f"t/{name}.parquet", 1, 5, START) for name in "ab"
    ]
    partitions = [
        PartitionRecord("daily", key, PartitionStatus.COMPUTED, START, 1, 1, run_id)
        for key in ("2026-05-30", "2026-05-29")
    ]
    watermark = WatermarkState("m.s.daily", "2026-05-30", START)
    ledger.record_models(run_id, [ModelRecords(a_model("daily"), artifacts, partitions, watermark)])
    ledger.record_models(run_id, [ModelRecords(a_model("daily_2"), [], [])])

    with ledger.reader() as reader:
        assert tuple(artifacts) == reader.artifacts(run_id) == reader.artifacts(run_id, "DAILY")
        assert () == reader.artifacts(run_id, "daily_2")
        assert tuple(partitions[::-1]) == reader.partitions("Daily") == reader.partitions()
        assert () == reader.partitions("dail")
        assert (watermark,) == reader.watermarks()
        assert (1, 2, 2) == reader.totals()
