"""One run for a key: claimed before it begins, given up when it ends, or its process does."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable, RunRefused
from rocky.ledger import open_ledger
from rocky.ledger.idempotency import (
    FAILED,
    IN_FLIGHT,
    KEY_TABLE,
    SUCCEEDED,
    LocalKey,
    SkippedIdempotent,
    SkippedInFlight,
    claim_key,
    find_expired,
)
from rocky.ledger.pipeline_records import IdempotencyRecord
from rocky.ledger.pipeline_state import open_pipeline_state_reader
from rocky.ledger.record import RunId
from rocky.project.configuration.blocks import Idempotency
from tests.ledger.test_processes import PRELUDE
from tests.processes import Running, run_program

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
RUN = RunId("run-20260501-120000-000")
SETTINGS = Idempotency()

HOLDING = """
from rocky.ledger.idempotency import claim_key
from rocky.project.configuration.blocks import Idempotency
with open_ledger(path) as ledger:
    hold = claim_key(ledger, "daily", Idempotency())
    print("held", flush=True)
    __import__("time").sleep(600)
"""


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def records(ledger) -> list[IdempotencyRecord]:
    with ledger.transaction() as rows:
        return [IdempotencyRecord.from_json(json.loads(value)) for _, value in rows.rows(KEY_TABLE)]


def finish(ledger, clock, *, succeeded: bool, settings=SETTINGS) -> None:
    hold = claim_key(ledger, "daily", settings, clock)
    assert isinstance(hold, LocalKey)
    hold.record_run(RUN)
    assert hold.finish(succeeded=succeeded)


def test_a_key_that_succeeded_keeps_a_second_run_away_until_it_expires(ledger, clock):
    finish(ledger, clock, succeeded=True)
    assert SkippedIdempotent("daily", RUN, SUCCEEDED) == claim_key(ledger, "daily", SETTINGS, clock)
    clock.now += timedelta(days=30)

    with claim_key(ledger, "daily", SETTINGS, clock) as hold:
        assert isinstance(hold, LocalKey)


@pytest.mark.parametrize(("dedup_on", "skipped"), [("success", False), ("any", True)])
def test_a_key_that_failed_keeps_a_second_run_away_only_if_asked_to(
    ledger, clock, dedup_on, skipped
):
    settings = Idempotency(dedup_on=dedup_on)
    finish(ledger, clock, succeeded=False, settings=settings)
    found = claim_key(ledger, "daily", settings, clock)

    assert skipped == (SkippedIdempotent("daily", RUN, FAILED) == found)
    if isinstance(found, LocalKey):
        found.finish(succeeded=True)


def test_a_key_in_flight_names_its_run_as_soon_as_it_has_one(ledger, clock):
    with claim_key(ledger, "daily", SETTINGS, clock) as hold:
        early = claim_key(ledger, "daily", SETTINGS, clock)
        hold.record_run(RUN)
        late = claim_key(ledger, "daily", SETTINGS, clock)
        with open_pipeline_state_reader(ledger.path) as remembered:
            shown = remembered.keys_in_flight(NOW)

    assert isinstance(early, SkippedInFlight)
    assert (None, RUN) == (early.run_id, late.run_id)
    assert [("daily", RUN, IN_FLIGHT)] == [(each.key, each.run_id, each.state) for each in shown]


def test_a_living_run_keeps_its_key_however_long_it_takes(ledger, clock):
    with claim_key(ledger, "daily", SETTINGS, clock):
        clock.now += timedelta(days=400)

        assert isinstance(claim_key(ledger, "daily", SETTINGS, clock), SkippedInFlight)


def test_an_error_gives_the_key_up_as_failed(ledger, clock):
    def run(hold):
        with hold:
            hold.record_run(RUN)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(claim_key(ledger, "daily", SETTINGS, clock))

    assert [FAILED] == [each.state for each in records(ledger)]
    with claim_key(ledger, "daily", SETTINGS, clock) as hold:
        assert isinstance(hold, LocalKey)


def test_a_key_of_another_host_is_free_when_its_time_is_over(ledger, clock):
    away = IdempotencyRecord("daily", RUN, IN_FLIGHT, NOW, NOW + timedelta(hours=24), "elsewhere")
    with ledger.transaction() as rows:
        rows.put(KEY_TABLE, "daily", record_json(away.to_json()))
    assert SkippedInFlight("daily", RUN, "elsewhere", NOW) == claim_key(
        ledger, "daily", SETTINGS, clock
    )
    clock.now += timedelta(hours=24)

    with claim_key(ledger, "daily", SETTINGS, clock) as hold:
        assert isinstance(hold, LocalKey)


def test_whoever_lost_a_key_does_not_end_it_for_its_new_owner(ledger, clock):
    hold = claim_key(ledger, "daily", SETTINGS, clock)
    with ledger.transaction() as rows:
        rows.put(KEY_TABLE, "daily", record_json(replace(hold.record, owner="other").to_json()))

    assert not hold.finish(succeeded=True)
    assert [("other", IN_FLIGHT)] == [(each.owner, each.state) for each in records(ledger)]


@pytest.mark.slow
def test_the_key_of_a_killed_process_is_taken_over_at_once(path):
    with Running(run_program, PRELUDE + HOLDING, str(path)) as process:
        assert "held\n" == process.stdout.readline()
        with open_ledger(path) as ledger:
            assert isinstance(claim_key(ledger, "daily", SETTINGS), SkippedInFlight)
            process.kill()
            process.wait()
            with claim_key(ledger, "daily", SETTINGS) as hold:
                assert isinstance(hold, LocalKey)


def test_expired_keys_are_found_and_living_ones_are_not(ledger, clock):
    finish(ledger, clock, succeeded=True)
    with claim_key(ledger, "hourly", SETTINGS, clock), ledger.transaction() as rows:
        found = rows.rows(KEY_TABLE)
        at = [find_expired(ledger.path, found, NOW + timedelta(days=each)) for each in (29, 30)]

    assert [[], ["daily"]] == at


@pytest.mark.parametrize("key", ["", "  ", "x" * 1025])
def test_what_is_no_key_is_refused(ledger, key):
    with pytest.raises(RunRefused, match="1 to 1024 characters"):
        claim_key(ledger, key, SETTINGS)


def test_a_key_that_cannot_be_read_is_never_taken_for_a_free_one(ledger, clock):
    odd = IdempotencyRecord("daily", RUN, "Somehow", NOW, NOW)
    with ledger.transaction() as rows:
        rows.put(KEY_TABLE, "daily", record_json(odd.to_json()))
    with pytest.raises(LedgerUnreadable, match="not a state of a key"):
        claim_key(ledger, "daily", SETTINGS, clock)
    with ledger.transaction() as rows:
        rows.put(KEY_TABLE, "daily", "{}")

    with pytest.raises(LedgerUnreadable, match="unusable row"):
        claim_key(ledger, "daily", SETTINGS, clock)
