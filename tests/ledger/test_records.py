import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from rocky.canonical import record_json
from rocky.errors import InternalError
from rocky.ledger.record import MalformedRecord, format_time, run_id_at
from rocky.ledger.run_records import (
    AttemptRecord,
    BudgetBreach,
    CostRate,
    EngineRecord,
    InputRecord,
    MetricsRecord,
    ModelExecution,
    RunRecord,
    RunStatus,
    TotalsRecord,
    WatermarkState,
)
from tests.ledger.conftest import START, a_model, a_run

WHOLE = a_run(
    status=RunStatus.PARTIAL_FAILURE,
    finished_at=START + timedelta(seconds=3),
    reason="1 of 2 models failed",
    models_executed=(
        a_model(
            inputs=(InputRecord("orders", target="main.raw.orders", version="7", identity="ab"),),
            metrics=MetricsRecord(executor_run_ms=700, tasks=4),
            cost_usd=0.25,
            cost_rate=CostRate(per_core_hour=0.05),
            attempts=(AttemptRecord(1, "failed", 20, failure_class="transient", backoff_ms=500),),
            canonical=False,
            tags={"team": "finance"},
        ),
    ),
    git_dirty=False,
    selection=("+fct_revenue",),
    engine=EngineRecord("4.1.4", "parquet-mr", {"spark.sql.ansi.enabled": "true"}),
    totals=TotalsRecord(3000, models=1),
    budget_breaches=(BudgetBreach("max_usd", 0.1, 0.25),),
)


@pytest.mark.parametrize("record", [WHOLE, a_run(), a_model(), WatermarkState("a.b.c", "1", START)])
def test_a_record_comes_back_from_its_json_as_it_was(record):
    text = record_json(record.to_json())

    assert record == type(record).from_json(json.loads(text))


def test_the_json_of_a_run_has_the_keys_and_words_an_auditor_reads():
    document = WHOLE.to_json()

    assert "2026-05-30T11:04:22.643494Z" == document["started_at"]
    assert ("PartialFailure", "Manual") == (document["status"], document["trigger"])
    assert "success" == document["models_executed"][0]["status"]
    assert 14820 == document["models_executed"][0]["rows_affected"]


def test_what_is_not_known_is_absent_and_never_null():
    text = record_json(a_run(models_executed=(a_model(),)).to_json())

    assert "null" not in text
    assert "git_commit" not in json.loads(text)


def test_a_false_and_a_zero_are_known_and_recorded():
    document = a_model(rows_affected=0, canonical=False).to_json()

    assert (0, False) == (document["rows_affected"], document["canonical"])


def test_keys_are_sorted_at_every_depth():
    text = record_json(WHOLE.to_json())

    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) == text


def test_times_are_utc_with_microseconds_wherever_they_were_taken():
    summer = timezone(timedelta(hours=2))

    assert "2026-05-30T09:00:00.000000Z" == format_time(datetime(2026, 5, 30, 11, tzinfo=summer))


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(InternalError, match="without a zone"):
        format_time(datetime(2026, 5, 30))  # noqa: DTZ001


def test_keys_of_a_newer_rocky_are_left_alone():
    document = a_run().to_json() | {"colour": "blue"}

    assert a_run() == RunRecord.from_json(document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "Great"}, "`status` of RunRecord: 'Great' is not a valid RunStatus"),
        ({"started_at": "yesterday"}, "`started_at` of RunRecord"),
        ({"started_at": "2026-05-30T11:00:00"}, "has no time zone"),
        ({"config_hash": None}, "RunRecord has no `config_hash`"),
        ({"hostname": 7}, "unexpected int `7`"),
        ({"git_dirty": "no"}, "unexpected str `no`"),
        ({"models_executed": [{"model_name": "a"}]}, "ModelExecution has no `status`"),
        ({"models_executed": {}}, "unexpected dict"),
    ],
)
def test_a_record_that_is_not_one_says_which_key_is_wrong(change, message):
    with pytest.raises(MalformedRecord, match=message):
        RunRecord.from_json(a_run().to_json() | change)


def test_true_is_not_a_number_of_rows():
    with pytest.raises(MalformedRecord, match="rows_affected"):
        ModelExecution.from_json(a_model().to_json() | {"rows_affected": True})


def test_a_name_that_is_not_utf8_survives_as_valid_json():
    record = WatermarkState("a.b.caf\udce9", "1", datetime(2026, 1, 1, tzinfo=UTC))
    text = record_json(record.to_json())

    assert record == WatermarkState.from_json(json.loads(text.encode()))


def test_texts_of_times_sort_as_the_times_do():
    times = [datetime(year, 5, 1, tzinfo=UTC) for year in (1, 30, 657, 999, 2026, 9999)]

    assert sorted(map(format_time, times)) == list(map(format_time, times))
    assert sorted(map(run_id_at, times)) == list(map(run_id_at, times))
