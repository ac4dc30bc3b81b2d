"""Servers that die, hang, crawl, err and lose answers: how each transfer ends, and what is lost."""

import logging

import pytest
import valkey as client

from rocky.errors import (
    CircuitOpen,
    RetryBudgetExhausted,
    StateConflict,
    StateSyncFailed,
    TransferTimedOut,
)
from rocky.ledger import SCHEMA_VERSION
from rocky.project.configuration.blocks import Retry
from rocky.state.events import format_event
from tests.servers.s3 import SECRET
from tests.servers.valkey import PASSWORD
from tests.state.machines import Machine, findings, rows, s3_state, tiered_state, valkey_state

pytestmark = pytest.mark.server

STATE = f"v{SCHEMA_VERSION}/state.db"
ONCE = Retry(max_retries=0, circuit_breaker_threshold=0)


@pytest.fixture
def first(tmp_path, prefix, s3) -> Machine:
    return Machine(tmp_path / "m1", s3_state(prefix), s3.url, 1)


@pytest.fixture
def second(tmp_path, prefix, s3) -> Machine:
    return Machine(tmp_path / "m2", s3_state(prefix), s3.url, 2)


def test_a_server_that_errs_now_and_then_is_asked_again(first, second, s3):
    first.run("a")
    s3.fail("500", 2, path="state.db")
    second.run("b")

    assert ["state.download ok", "state.upload ok"] == second.outcomes
    assert 3 == second.events[0].attempts
    assert [] == findings(second.ledger)


def test_a_slow_server_is_waited_for(first, s3):
    s3.fail("slow", 2)

    first.run("a")

    assert {"ok", "absent"} == {event.outcome.value for event in first.events}


@pytest.mark.parametrize(
    ("fault", "settings", "error", "outcome"),
    [
        ("500", {}, RetryBudgetExhausted, "transient_exhausted"),
        ("drop", {}, RetryBudgetExhausted, "transient_exhausted"),
        ("403", {}, StateSyncFailed, "error"),
        ("hang", {"transfer_timeout_seconds": 1}, TransferTimedOut, "timeout"),
        ("500", {"retry": Retry(max_retries_per_run=0)}, RetryBudgetExhausted, "budget_exhausted"),
        (
            "500",
            {"retry": Retry(max_retries=9, initial_backoff_ms=1, circuit_breaker_threshold=2)},
            CircuitOpen,
            "circuit_open",
        ),
    ],
)
def test_a_download_that_fails_stops_the_run_and_is_never_taken_for_absent(
    first, second, s3, fault, settings, error, outcome
):
    first.run("a")
    second.state = second.state._replace(**settings)
    s3.fail(fault)
    with second.session() as session, pytest.raises(error) as caught:
        session.acquire()

    assert error is type(caught.value)
    assert [f"state.download {outcome}"] == second.outcomes
    assert not second.ledger.exists()


def test_a_download_that_fails_may_be_skipped_and_the_run_vouches_for_nothing(first, second, s3):
    run = first.run("a")
    second.state = second.state._replace(on_upload_failure="skip", retry=ONCE)
    s3.fail("500", 1)
    with second.session() as session:
        session.acquire()
        unvouched = (session.is_unvouched, session.published_head, len(session.warnings))
        mine = second.record("b")
        published = session.publish(mine)
        session.finalize(mine)

    assert (True, None, 1) == unvouched
    assert published is None
    assert ["state.download error_then_fresh", "state.upload ok"] == second.outcomes
    assert "transient_exhausted" == second.events[0].cause
    # What was begun apart became part of the one ledger.
    assert [run, mine] == rows(second.ledger, "run_history")
    assert [] == findings(second.ledger)


def test_a_reader_that_cannot_fetch_makes_no_state_of_its_own(first, second, s3):
    first.run("a")
    second.state = second.state._replace(on_upload_failure="skip", retry=ONCE)
    s3.fail("500")
    with second.session() as session, pytest.raises(StateSyncFailed):
        session.refresh()

    assert not second.ledger.exists()


def test_a_reader_that_cannot_fetch_shows_the_copy_here_unless_it_has_to_be_current(first, s3):
    run = first.run("a")
    first.state = first.state._replace(on_upload_failure="skip", retry=ONCE)
    s3.fail("500")
    with first.session() as session:
        session.refresh()
        warnings = session.warnings
    with first.session() as session, pytest.raises(StateSyncFailed):
        session.refresh(current=True)

    assert 1 == len(warnings)
    assert warnings[0].endswith("; this is the state of this machine")
    assert [run] == rows(first.ledger, "run_history")


def test_a_ledger_begun_apart_joins_the_other_by_the_next_run(first, second, s3):
    run = first.run("a")
    second.state = second.state._replace(on_upload_failure="skip", retry=ONCE)
    s3.fail("500")
    mine = second.run("b")
    s3.heal()
    last = second.run("c")

    assert [
        "state.download error_then_fresh",
        "state.upload skipped_after_failure",
        "state.download ok",
        "state.upload ok",
    ] == second.outcomes
    assert [run, mine, last] == rows(second.ledger, "run_history")
    assert [] == findings(second.ledger)


def test_an_upload_that_fails_fails_the_run_or_is_skipped_as_asked(first, s3):
    first.run("a")
    s3.fail("500", method="PUT", path="state.db")
    with pytest.raises(RetryBudgetExhausted):
        first.run("b")
    first.state = first.state._replace(on_upload_failure="skip")
    skipped = first.run("c")
    s3.heal()
    first.run("d")

    assert "state.upload transient_exhausted" == first.outcomes[-5]
    assert "state.upload skipped_after_failure" == first.outcomes[-3]
    assert 4 == len(rows(first.ledger, "run_history"))
    assert skipped in rows(first.ledger, "run_history")
    assert [] == findings(first.ledger)


def test_an_answer_that_is_lost_after_the_write_is_known_to_be_ours(first, second, s3):
    first.run("a")
    s3.fail("lost", 1, method="PUT", path="state.db")
    run = first.run("b")
    s3.heal()

    assert "state.upload ok" == first.outcomes[-1]
    second.run("c")
    assert 1 == rows(second.ledger, "run_history").count(run)
    assert [] == findings(second.ledger)


def test_an_answer_that_is_lost_and_overtaken_is_still_known_to_be_ours(first, second, s3):
    first.run("a")
    second.run("b")
    with first.session() as session:
        session.acquire()
        mine = first.record("c", session=session)
        s3.fail("lost", 1, method="PUT", path="state.db")
        # Between the write and the second try somebody builds on what was written.
        done = []

        def meanwhile() -> None:
            tried = [each for each in s3.seen if each[0] == "PUT" and "state.db" in each[1]]
            if len(tried) >= puts + 2 and not done:
                done.append(True)
                second.run("d")

        puts = len([each for each in s3.seen if each[0] == "PUT" and "state.db" in each[1]])
        s3.before_put = meanwhile
        session.finalize(mine)

    assert [True] == done
    assert 4 == len(rows(first.ledger, "run_history"))
    assert [] == findings(first.ledger)


def test_a_torn_copy_is_an_error_and_not_absent(first, second, bucket):
    first.run("a")
    whole = bucket.read(STATE)
    for torn in (whole[: len(whole) // 2], b"", b"not a ledger at all" * 300):
        bucket.put(STATE, torn)
        with second.session() as session, pytest.raises(StateSyncFailed, match="not a whole"):
            session.acquire()
    assert ["state.download error"] * 3 == second.outcomes
    assert not second.ledger.exists()


def test_a_missing_bucket_is_an_error_and_not_absent(first):
    first.state = first.state._replace(s3_bucket="nowhere")
    with first.session() as session, pytest.raises(StateSyncFailed, match="no such bucket"):
        session.acquire()


def test_a_remote_state_that_was_put_back_is_refused(first, second, bucket):
    first.run("a")
    older = bucket.read(STATE)
    first.run("b")
    with first.session() as session:
        session.acquire()
        run = first.record("c", session=session)
        bucket.put(STATE, older)
        second.run("d")
        with pytest.raises(StateConflict, match="put back to an older copy"):
            session.finalize(run)


def test_two_ledgers_are_never_mixed(first, second, prefix):
    first.run("a")
    second.root.mkdir()
    second.record("b")
    before = second.ledger.read_bytes()
    with (
        second.session() as session,
        pytest.raises(StateConflict, match="move the local file away"),
    ):
        session.acquire()

    assert ["state.download conflict"] == second.outcomes
    assert before == second.ledger.read_bytes()


@pytest.mark.parametrize(
    ("mode", "error"), [("refuse", RetryBudgetExhausted), ("hang", TransferTimedOut)]
)
def test_a_valkey_server_that_dies_or_hangs_stops_the_run(tmp_path, prefix, valkey, mode, error):
    machine = Machine(tmp_path / "m", valkey_state(valkey.port, prefix))
    machine.run("a")
    machine.state = machine.state._replace(transfer_timeout_seconds=1)
    valkey.mode = mode
    with pytest.raises(error):
        machine.run("b")

    assert [] == findings(machine.ledger)


def test_an_answer_of_valkey_that_is_lost_after_the_write_is_known_to_be_ours(
    tmp_path, prefix, valkey
):
    machine = Machine(tmp_path / "m", valkey_state(valkey.port, prefix))
    machine.run("a")
    with machine.session() as session:
        session.acquire()
        run = machine.record("b")
        valkey.mode = "lost"
        session.finalize(run)

    assert "pass" == valkey.mode
    assert ("state.upload ok", 2) == (
        machine.outcomes[-1],
        len(rows(machine.ledger, "run_history")),
    )


def test_half_of_a_valkey_copy_is_an_error_and_not_absent(tmp_path, prefix, valkey):
    machine = Machine(tmp_path / "m", valkey_state(valkey.port, prefix))
    machine.run("a")
    key = f"{prefix}:v{SCHEMA_VERSION}:state.db"
    with client.Valkey.from_url(machine.state.valkey_url) as server:
        data, generation = server.get(key), server.get(f"{key}:generation")
        for change in ({f"{key}:generation": None}, {key: None}, {key: data[:-1]}):
            server.set(key, data)
            server.set(f"{key}:generation", generation)
            for name, value in change.items():
                server.delete(name) if value is None else server.set(name, value)
            with machine.session() as session, pytest.raises(StateSyncFailed, match="not whole"):
                session.acquire()


def test_the_near_tier_may_fail_and_is_never_believed_when_it_is_behind(
    tmp_path, prefix, s3, valkey
):
    state = tiered_state(valkey.port, prefix)
    first, second = (Machine(tmp_path / f"m{each}", state, s3.url, each) for each in (1, 2))
    one = first.run("a")
    valkey.mode = "refuse"
    two = second.run("b")
    valkey.mode = "pass"
    three = first.run("c")

    assert "state.cache cache_failed" in second.outcomes
    assert "state.cache cache_stale" in first.outcomes
    assert [one, two, three] == rows(first.ledger, "run_history")
    assert [] == findings(first.ledger)


def test_the_near_tier_spares_the_far_one_the_bytes(tmp_path, prefix, s3, valkey):
    state = tiered_state(valkey.port, prefix)
    first, second = (Machine(tmp_path / f"m{each}", state, s3.url, each) for each in (1, 2))
    first.run("a")
    s3.seen.clear()
    with second.session() as session:
        session.acquire()

    assert ["HEAD"] == [method for method, path in s3.seen if "state.db" in path]


def test_whoever_can_write_only_the_near_tier_alters_and_rolls_back_nothing(
    tmp_path, prefix, s3, valkey_port
):
    state = tiered_state(valkey_port, prefix)
    first, second = (Machine(tmp_path / f"m{each}", state, s3.url, each) for each in (1, 2))
    one = first.run("a")
    with client.Valkey.from_url(state.valkey_url) as server:
        key = f"{prefix}:v{SCHEMA_VERSION}:state.db:cache"
        older = server.get(key)
        two = first.run("b")
        newer = server.get(key)
        magic, head, _ = newer.split(b"\n", 2)
        _, _, rolled_back = older.split(b"\n", 2)
        # Both with a head that fits: that of the bucket's own generation.
        for forged in (rolled_back, b"SQLite format 3\0" + bytes(4096), b""):
            server.set(key, b"\n".join((magic, head, forged)))
            fresh = Machine(tmp_path / f"f{len(forged)}", state, s3.url, 3)
            with fresh.session() as session:
                session.acquire()
            assert "state.cache cache_altered" in fresh.outcomes
            assert [one, two] == rows(fresh.ledger, "run_history")
        server.set(key, older)
        three = second.run("c")

    assert "state.cache cache_stale" in second.outcomes
    assert sorted([one, two, three]) == rows(second.ledger, "run_history")
    assert [] == findings(second.ledger)


def test_a_copy_that_an_older_rocky_has_sent_is_read_from_the_bucket(
    tmp_path, prefix, s3, valkey_port, bucket
):
    state = tiered_state(valkey_port, prefix)
    first, second = (Machine(tmp_path / f"m{each}", state, s3.url, each) for each in (1, 2))
    one = first.run("a")
    copy = f"v{SCHEMA_VERSION}/state.db"
    data = bucket.read(copy)
    # Without the hash that is kept with it now; its ETag is the same.
    bucket.put(copy, data)
    two = second.run("b")

    assert "state.cache cache_stale" in second.outcomes
    assert [one, two] == rows(second.ledger, "run_history")


def test_no_secret_is_in_an_event_an_error_a_log_or_a_text(tmp_path, prefix, s3, valkey, caplog):
    caplog.set_level(logging.DEBUG, "rocky")
    wrong = f"redis://:{'wrong-password-here'}@127.0.0.1:{valkey.port}/0"
    bad = "redis://:pass-word-here@127.0.0.1:not-a-port-here/0"
    states = [
        s3_state(prefix, ONCE),
        valkey_state(valkey.port, prefix, ONCE),
        valkey_state(valkey.port, prefix, ONCE, valkey_url=wrong),
        valkey_state(valkey.port, prefix, ONCE, valkey_url=bad),
    ]
    texts = []
    s3.fail("403")
    for number, state in enumerate(states):
        machine = Machine(tmp_path / f"m{number}", state, s3.url, number)
        valkey.mode = "refuse" if number == 1 else "pass"
        with pytest.raises(StateSyncFailed) as caught, machine.session() as session:
            session.acquire()
        texts += [str(caught.value), repr(caught.value), repr(state), str(state)]
        texts += [format_event(event) for event in machine.events]
    texts += [str(vars(record)) for record in caplog.records]

    secrets = [SECRET, PASSWORD, "key-id-that-nobody", "wrong-password", "pass-word-here"]
    assert [] == [(each, text) for text in texts for each in secrets if each in text]
    assert 3 == len([text for text in texts if text.startswith("{") and '"outcome"' in text][:3])


def test_a_server_that_overlooks_conditions_is_found_out_before_anything_is_lost(first, s3):
    s3.is_heedless = True
    with first.session() as session, pytest.raises(StateSyncFailed, match="conditional puts"):
        session.acquire()

    assert ["state.download absent", "state.upload error"] == first.outcomes
