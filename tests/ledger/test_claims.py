import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from rocky.errors import ClaimLost, LedgerLocked, LedgerUnwritable
from rocky.ledger import open_ledger
from rocky.ledger.claims import claims_folder, is_alive, living_runs
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import ModelRecords
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
        ledger.record_models(run_id, [ModelRecords(a_model("done"))])
    with open_ledger(path) as ledger, ledger.reader() as reader:
        seen = reader.run(run_id)
        ledger.begin_run(a_run(START + timedelta(hours=1)), ["m.s.t"])
        repaired = reader.run(run_id)

    assert (RunStatus.FAILURE, True) == (seen.status, seen.died)
    assert seen == repaired
    assert ["done"] == [each.model_name for each in repaired.models_executed]
    assert "the process ended without finishing" == repaired.reason


def test_nothing_is_added_to_a_run_that_others_have_recorded_as_dead(ledger, other, path):
    run_id = ledger.begin_run(a_run(), ["m.s.t"])
    shutil.rmtree(claims_folder(path))
    other.begin_run(a_run(START + timedelta(hours=1)), ["m.s.t"])

    with pytest.raises(ClaimLost, match=f"run `{run_id}` was recorded as dead"):
        ledger.amend_run(run_id, commit_key="k")
    with other.reader() as reader:
        assert reader.run(run_id).died
        assert reader.run(run_id).commit_key is None


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


def test_tables_claimed_by_a_command_are_refused_to_runs_which_are_told_whose_they_are(
    ledger, path
):
    with open_ledger(path, patience=0.2) as other:
        with ledger.claim(["m.s.t", "m.s.u"]):
            with pytest.raises(LedgerLocked, match=r"`rocky gc` is using `M.s.t` \(process \d+ on"):
                other.begin_run(a_run(), ["M.s.t"])
            beside = other.begin_run(a_run(), ["m.s.v"])
        after = other.begin_run(a_run(), ["m.s.t"])

        with ledger.reader() as reader:
            assert [after, beside] == [each.run_id for each in reader.runs()]


@pytest.mark.slow
def test_a_run_waits_for_a_command_that_is_soon_done(ledger, other):
    with ThreadPoolExecutor(1) as pool:
        with ledger.claim(["m.s.t"]):
            begun = pool.submit(other.begin_run, a_run(), ["m.s.t"])
            with pytest.raises(TimeoutError):
                begun.result(timeout=0.3)
        run_id = begun.result(timeout=30)

    with ledger.reader() as reader:
        assert [run_id] == [each.run_id for each in reader.runs()]


def test_a_command_may_not_claim_what_a_living_run_writes(ledger, other, path):
    run_id = ledger.begin_run(a_run(), ["m.s.t"])

    with pytest.raises(LedgerLocked, match=f"run `{run_id}` is writing `m.s.t`"):  # noqa: SIM117
        with other.claim(["m.s.t"]):
            pytest.fail("claimed")
    with other.claim(["m.s.u"]):
        assert 2 == len(list(claims_folder(path).iterdir()))
    assert 1 == len(list(claims_folder(path).iterdir()))


def test_two_commands_do_not_claim_the_same_tables(ledger, other):
    with ledger.claim(["m.s.t"]), pytest.raises(LedgerLocked, match="`rocky gc` is using"):  # noqa: SIM117
        with other.claim(["m.s.t"]):
            pytest.fail("claimed")


def test_a_claim_is_given_up_when_the_command_fails(ledger, other):
    with pytest.raises(KeyError), ledger.claim(["m.s.t"]):
        raise KeyError
    with other.claim(["m.s.t"]):
        pass


def test_a_claim_leaves_nothing_in_the_chain(ledger):
    before = ledger.head()
    with ledger.claim(["m.s.t"]):
        assert before == ledger.head()


def test_living_runs_are_those_whose_process_lives_and_commands_are_none(ledger, other, path):
    first = ledger.begin_run(a_run(), ["m.s.a"])
    second = other.begin_run(a_run(), ["m.s.b"])
    with ledger.claim(["m.s.c"]):
        both = living_runs(path)
    other.finish_run(second, RunStatus.SUCCESS, START)

    assert [(first, START, ("m.s.a",)), (second, START, ("m.s.b",))] == [
        (each.run_id, each.since, each.targets) for each in both
    ]
    assert [first] == [each.run_id for each in living_runs(path)]


def test_a_lock_folder_that_cannot_be_made_is_named(ledger, path):
    claims_folder(path).write_text("in the way")

    with pytest.raises(LedgerUnwritable, match=r"cannot lock a file in `.*\.runs`: file exists"):
        ledger.begin_run(a_run(), ["m.s.t"])
    with ledger.reader() as reader:
        assert () == reader.runs()
