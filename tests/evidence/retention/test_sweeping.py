"""Sweeping a ledger: when it is due, what goes beside runs, and that a run never fails of it."""

import json
import logging
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from rocky.errors import ClaimLost, LedgerLocked
from rocky.evidence.retention.sweep import preview_sweep, sweep_if_due, sweep_ledger
from rocky.ledger import open_evidence_reader, open_history_reader, open_ledger
from rocky.ledger.claims import claims_folder
from rocky.ledger.idempotency import KEY_TABLE, claim_key
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.record import format_time
from rocky.ledger.run_records import (
    ArtifactRecord,
    ModelExecution,
    ModelStatus,
    ProgressStatus,
    RunRecord,
    RunStatus,
    TableProgress,
)
from rocky.ledger.sweep import load_last_sweep, record_sweep
from rocky.ledger.writer import ModelRecords
from rocky.project.configuration.blocks import Idempotency, StateRetention
from tests.ledger.chains import faults

NOW = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)
KEEP_ONE = StateRetention(max_age_days=30, min_runs_kept=1)


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "state.db") as opened:
        yield opened


def a_run(ledger, days_ago, status=RunStatus.SUCCESS, execution=None, artifacts=()):
    at = NOW - timedelta(days=days_ago)
    run_id = ledger.begin_run(RunRecord(at, "Manual", "c", "h", "1", warehouse="w"))
    if execution is not None:
        made = [ArtifactRecord(each, run_id, "m", each, 1, 1, at) for each in artifacts]
        ledger.record_models(run_id, [ModelRecords(execution, made)])
    progress = TableProgress(0, "t", ("t",), ProgressStatus.SUCCESS, 1, at)
    with ledger.transaction() as rows:
        rows.put("run_progress", f"{run_id}|t", json.dumps(progress.to_json()))
    ledger.finish_run(run_id, status, at)
    return run_id


def runs_of(ledger):
    with ledger.reader() as reader:
        return [each.run_id for each in reader.runs()]


def test_a_sweep_keeps_the_young_and_the_newest(ledger):
    old = [a_run(ledger, days) for days in (50, 40, 31)]
    young = [a_run(ledger, days) for days in (29, 1)]
    report = sweep_ledger(ledger, [], KEEP_ONE._replace(min_runs_kept=3), NOW)

    assert (tuple(old[:2]), [*reversed(young), old[2]][:2]) == (report.runs, runs_of(ledger)[:2])
    assert [] == faults(ledger.path)


def test_progress_goes_with_runs_that_nobody_will_go_on_with(ledger):
    a_run(ledger, 3)
    failed = a_run(ledger, 2, RunStatus.FAILURE)
    report = sweep_ledger(ledger, [], KEEP_ONE, NOW)

    assert ((), {"run_progress": 1}) == (report.runs, report.removed)
    with open_evidence_reader(ledger.path) as reader:
        assert [f"{failed}|t"] == [key for key, _ in reader.rows("run_progress")]
        assert [] == list(reader.rows("sweeps"))


def test_a_record_of_a_removed_file_goes_when_no_record_of_the_file_is_left(ledger):
    at = NOW - timedelta(days=60)
    built = ModelExecution("m", ModelStatus.SUCCESS, at, at, 0, "a.b.c")
    a_run(ledger, 50, execution=built, artifacts=["w/a/b/c/kept.parquet"])
    names = ("kept", "gone")
    ledger.record_collected(
        [CollectedFile(each, f"w/a/b/c/{each}.parquet", "a.b.c", 1, at, "old") for each in names]
    )
    report = sweep_ledger(ledger, [], KEEP_ONE, NOW)

    assert 1 == report.removed["collected_files"]
    with open_evidence_reader(ledger.path) as reader:
        assert ["kept"] == [each.blake3_hash for each in reader.collected()]


def test_expired_keys_go_and_others_stay(ledger):
    settings = Idempotency(retention_days=10)
    for key, days in (("old", 20), ("young", 5)):
        at = NOW - timedelta(days=days)
        claim_key(ledger, key, settings, lambda at=at: at).finish(succeeded=True)
    report = sweep_ledger(ledger, [], KEEP_ONE, NOW)

    assert {KEY_TABLE: 1} == report.removed
    with open_evidence_reader(ledger.path) as reader:
        assert ["young"] == [key for key, _ in reader.rows(KEY_TABLE)]


def test_a_sweep_is_due_when_the_interval_has_passed(ledger):
    rules = KEEP_ONE._replace(sweep_interval_seconds=60)
    moments = [NOW, NOW + timedelta(seconds=59), NOW + timedelta(seconds=60)]

    assert [True, False, True] == [
        sweep_if_due(ledger, [], rules, each) is not None for each in moments
    ]
    assert moments[2] == load_last_sweep(ledger)
    assert sweep_if_due(ledger, [], rules._replace(applies_to=()), NOW + timedelta(days=1)) is None


def test_a_sweep_that_cannot_be_made_is_a_warning_and_no_failure(ledger, caplog):
    with open_ledger(ledger.path) as other, other.claim(["old runs"], "another sweep"):
        with pytest.raises(LedgerLocked, match="`another sweep` is using `old runs`"):
            sweep_ledger(ledger, [], KEEP_ONE, NOW)
        assert sweep_if_due(ledger, [], KEEP_ONE, NOW) is None

    (record,) = caplog.records
    assert logging.WARNING == record.levelno
    assert record.getMessage().startswith("the state file was not swept: `another sweep`")


def test_the_budget_changes_only_how_loud_it_is(ledger, caplog):
    caplog.set_level(logging.INFO)
    quick = sweep_ledger(ledger, [], KEEP_ONE._replace(sweep_budget_ms=600_000), NOW)
    a_run(ledger, 50)
    a_run(ledger, 40)
    rules = KEEP_ONE._replace(sweep_budget_ms=0)
    late = sweep_ledger(ledger, [], rules, NOW)

    assert (False, 1) == (quick.over_budget, len(late.runs))
    expected = logging.WARNING if late.over_budget else logging.INFO
    assert [logging.INFO, expected] == [each.levelno for each in caplog.records]


def test_without_a_state_file_there_is_nothing_to_forget_and_none_is_made(tmp_path):
    report = preview_sweep(tmp_path / "state.db", [], KEEP_ONE, NOW)

    assert ((), {}, False) == (report.runs, report.removed, (tmp_path / "state.db").exists())


def test_a_living_run_is_never_forgotten(ledger):
    at = NOW - timedelta(days=90)
    living = ledger.begin_run(RunRecord(at, "Manual", "c", "h", "1", warehouse="w"))
    with open_ledger(ledger.path) as other:
        dead = other.begin_run(RunRecord(at, "Manual", "c", "h", "1", warehouse="w"))
    a_run(ledger, 1)
    report = sweep_ledger(ledger, [], KEEP_ONE, NOW)

    assert not {living, dead} & set(report.runs)
    with open_history_reader(ledger.path) as reader:
        assert RunStatus.RUNNING == reader.run(living).status


def test_a_large_sweep_is_made_in_parts_each_of_which_is_told(ledger, monkeypatch):
    monkeypatch.setattr("rocky.evidence.retention.sweep.RUNS_AT_ONCE", 2)
    old = [a_run(ledger, 50 + number) for number in range(5)]
    a_run(ledger, 1)
    report = sweep_ledger(ledger, [], KEEP_ONE, NOW)
    with open_evidence_reader(ledger.path) as reader:
        told = [json.loads(value)["runs"] for _, value in reader.rows("sweeps")]

    assert (5, [2, 2, 1]) == (len(report.runs), [len(each) for each in told])
    assert sorted(old) == [run_id for each in told for run_id in each]
    assert [] == faults(ledger.path)


def test_two_sweeps_of_one_moment_are_both_told(ledger):
    for _ in range(2):
        a_run(ledger, 50)
        a_run(ledger, 1)
        sweep_ledger(ledger, [], KEEP_ONE, NOW)
    with open_evidence_reader(ledger.path) as reader:
        keys = [key for key, _ in reader.rows("sweeps")]

    assert [format_time(NOW), format_time(NOW + timedelta(microseconds=1))] == keys


def test_a_sweep_whose_claim_is_taken_away_ends_with_what_it_has_forgotten(ledger, monkeypatch):
    for days in range(60, 50, -1):
        a_run(ledger, days)
    parts = []

    def take_away(*given):
        record_sweep(*given)
        parts.append(given)
        shutil.rmtree(claims_folder(ledger.path))

    monkeypatch.setattr("rocky.evidence.retention.sweep.RUNS_AT_ONCE", 3)
    monkeypatch.setattr("rocky.evidence.retention.sweep.record_sweep", take_away)
    with pytest.raises(ClaimLost, match="was removed while its process was at work"):
        sweep_ledger(ledger, [], KEEP_ONE, NOW)

    assert (1, 7) == (len(parts), len(runs_of(ledger)))
    assert [] == faults(ledger.path)
