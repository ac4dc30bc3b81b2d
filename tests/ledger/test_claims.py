import json
from datetime import timedelta

import pytest

from rocky.errors import LedgerLocked, LedgerUnwritable
from rocky.ledger import open_ledger
from rocky.ledger.claims import claims_folder, is_alive
from rocky.ledger.records import RunStatus
from tests.ledger.conftest import START, a_model, a_run


@pytest.fixture
def other(path):
    with open_ledger(path) as opened:
        yield opened


def test_a_living_run_keeps_others_from_its_tables(ledger, other):
    run_id = ledger.begin_run(a_run(), ["main.marts.revenue", "main.marts.orders"])

    with pytest.raises(LedgerLocked) as caught:
        other.begin_run(a_run(), ["main.raw.x", "MAIN.marts.Orders", "main.marts.revenue"])
    said = str(caught.value)
    assert f"run `{run_id}` is writing `MAIN.marts.Orders` and 1 more of these tables" in said
    assert "since 2026-05-30 11:04:22 UTC" in said
    assert "wait until it has ended, or end that process" in said


def test_a_run_that_was_refused_leaves_no_trace(ledger, other, path):
    run_id = ledger.begin_run(a_run(), ["m.s.t"])
    with pytest.raises(LedgerLocked):
        other.begin_run(a_run(), ["m.s.t"])

    assert [f"{run_id}.lock"] == [each.name for each in claims_folder(path).iterdir()]
    with ledger.reader() as reader:
        assert [run_id] == [each.run_id for each in reader.runs()]


def test_runs_that_write_different_tables_go_on_side_by_side(ledger, other):
    first = ledger.begin_run(a_run(), ["m.s.a"])
    second = other.begin_run(a_run(), ["m.s.b"])

    with ledger.reader() as reader:
        assert {(first, RunStatus.RUNNING), (second, RunStatus.RUNNING)} == {
            (each.run_id, each.status) for each in reader.runs()
        }


def test_tables_are_free_again_when_the_run_has_ended(ledger, other, path):
    run_id = ledger.begin_run(a_run(), ["m.s.t"])
    assert is_alive(path, run_id)
    ledger.finish_run(run_id, RunStatus.SUCCESS, START + timedelta(seconds=1))

    assert not is_alive(path, run_id)
    other.begin_run(a_run(), ["m.s.t"])


def test_a_run_left_open_is_one_that_died_and_the_next_run_records_it(path):
    with open_ledger(path) as ledger:
        run_id = ledger.begin_run(a_run(), ["m.s.t"])
        ledger.record_model(run_id, a_model("done"))
    with open_ledger(path) as ledger, ledger.reader() as reader:
        seen = reader.run(run_id)
        ledger.begin_run(a_run(START + timedelta(hours=1)), ["m.s.t"])
        repaired = reader.run(run_id)

    assert (RunStatus.FAILURE, True) == (seen.status, seen.died)
    assert seen == repaired
    assert ["done"] == [each.model_name for each in repaired.models_executed]
    assert "the process ended without finishing" == repaired.reason


def test_a_lock_file_without_a_lock_holds_nobody_up(ledger, path):
    folder = claims_folder(path)
    folder.mkdir()
    claim = {
        "run_id": "run-x",
        "process": 1,
        "hostname": "h",
        "since": "2026-01-01T00:00:00.000000Z",
        "targets": ["m.s.t"],
    }
    (folder / "run-x.lock").write_text(json.dumps(claim))
    run_id = ledger.begin_run(a_run(), ["m.s.t"])

    assert [f"{run_id}.lock"] == [each.name for each in folder.iterdir()]


def test_a_living_claim_that_cannot_be_read_is_not_passed_over(ledger, other, path):
    run_id = ledger.begin_run(a_run(), ["m.s.t"])
    (claims_folder(path) / f"{run_id}.lock").write_text("{")

    with pytest.raises(LedgerLocked, match="what it writes cannot be read"):
        other.begin_run(a_run(), ["m.s.u"])


def test_a_lock_folder_that_cannot_be_made_is_named(ledger, path):
    claims_folder(path).write_text("in the way")

    with pytest.raises(LedgerUnwritable, match=r"cannot lock a file in `.*\.runs`: file exists"):
        ledger.begin_run(a_run(), ["m.s.t"])
    with ledger.reader() as reader:
        assert () == reader.runs()
