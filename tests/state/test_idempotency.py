"""Idempotency keys that machines share, in real servers on loopback."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from rocky.errors import StateSyncFailed
from rocky.ledger.idempotency import SkippedIdempotent, SkippedInFlight
from rocky.ledger.record import RunId
from rocky.project.configuration.blocks import Idempotency
from rocky.state import claims
from rocky.state.backend import key_name
from rocky.state.idempotency import RemoteKey, RemoteKeys
from tests.processes import fork_context
from tests.state.machines import Machine, s3_state, valkey_state

pytestmark = [pytest.mark.server, pytest.mark.sampled]

NOW = datetime.now(UTC)
RUN = RunId("run-1")

Open = Callable[..., RemoteKeys]


@pytest.fixture(params=["s3", "valkey"])
def machine(request, tmp_path, prefix) -> Machine:
    faults = request.getfixturevalue(request.param)
    if request.param == "s3":
        return Machine(tmp_path, s3_state(prefix), faults.url)
    return Machine(tmp_path, valkey_state(faults.port, prefix))


@pytest.fixture
def keys(machine) -> Open:
    def make(claim_seconds: float = 60.0, **settings: object) -> RemoteKeys:
        machine.claim_seconds = claim_seconds
        return keys_of(machine, **settings)

    return make


def keys_of(machine: Machine, **settings: object) -> RemoteKeys:
    with machine.session() as session:
        session.acquire()
        found = session.keys(Idempotency(**settings))
        assert found is not None
        return found


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def test_a_key_is_one_runs_and_says_which(keys):
    with keys().claim("nightly/ä") as hold:
        hold.record_run(RUN)
        during = keys().claim("nightly/ä")
        hold.finish(succeeded=True)
    after = keys().claim("nightly/ä")

    assert isinstance(during, SkippedInFlight)
    assert RUN == during.run_id
    assert SkippedIdempotent("nightly/ä", RUN, "Succeeded") == after
    assert isinstance(keys().claim("another"), RemoteKey)


@pytest.mark.parametrize(("dedup_on", "kind"), [("success", RemoteKey), ("any", SkippedIdempotent)])
def test_a_run_that_failed_lets_another_try_unless_told(keys, dedup_on, kind):
    shared = keys(dedup_on=dedup_on)
    with pytest.raises(RuntimeError), shared.claim("k"):
        raise RuntimeError

    assert isinstance(shared.claim("k"), kind)


def test_a_key_in_flight_is_had_when_its_time_is_up(keys):
    shared = keys(in_flight_ttl_hours=1)
    first = shared.claim("k", at(NOW))
    early = shared.claim("k", at(NOW + timedelta(minutes=59)))
    late = shared.claim("k", at(NOW + timedelta(minutes=61)))

    assert isinstance(first, RemoteKey)
    assert isinstance(early, SkippedInFlight)
    assert isinstance(late, RemoteKey)
    # Whose key was taken over has nothing to say any more.
    assert not first.finish(succeeded=True)
    assert late.finish(succeeded=True)


def test_the_key_of_a_process_that_died_before_its_run_had_an_id_is_had(machine, keys):
    process = fork_context().Process(target=claim_and_die, args=(machine,))
    process.start()
    process.join(60)

    assert -signal.SIGKILL == process.exitcode
    assert isinstance(keys().claim("k"), RemoteKey)


def claim_and_die(machine: Machine) -> None:
    assert isinstance(keys_of(machine).claim("k"), RemoteKey)
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_the_key_of_a_dead_process_elsewhere_is_had_when_its_claim_ends(keys, monkeypatch):
    shared = keys(claim_seconds=3.0)
    # Whether a process of another machine is there cannot be asked.
    monkeypatch.setattr(claims, "process_space", lambda: "")
    dead = shared.claim("k")
    dead.record_run(RUN)
    at_first = shared.claim("k")
    deadline = time.monotonic() + 30
    while isinstance(later := shared.claim("k"), SkippedInFlight) and time.monotonic() < deadline:
        time.sleep(0.1)

    assert isinstance(at_first, SkippedInFlight)
    assert isinstance(later, RemoteKey)
    assert not dead.finish(succeeded=True)


@pytest.mark.slow
def test_a_key_is_kept_as_long_as_its_process_lives(keys):
    shared = keys(claim_seconds=4.0)
    with shared.claim("k"):
        time.sleep(6)
        during = shared.claim("k")

    assert isinstance(during, SkippedInFlight)


def test_neither_a_key_nor_who_asked_in_vain_is_taken_for_a_run(keys):
    shared = keys()
    with shared.claim("k") as hold:
        shared.claim("k")
        held = [each.claim.command for each in shared._claims.living()]
        hold.finish(succeeded=True)

    assert ["rocky run"] == held
    assert [] == shared._claims.living()


def test_of_many_who_ask_at_once_one_gets_the_key(keys):
    shared = keys()
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: shared.claim("k"), range(6)))

    assert 1 == len([each for each in found if isinstance(each, RemoteKey)])


def test_a_key_that_cannot_be_read_is_an_error_and_not_free(keys):
    shared = keys()
    for text in (b"{", b"{}", b'{"state":"Odd"}'):
        shared._shelf.put_note(key_name("k"), text)
        with pytest.raises(StateSyncFailed, match="cannot be read"):
            shared.claim("k")


def test_an_answer_that_is_lost_after_the_key_was_made_is_known_to_be_ours(tmp_path, prefix, s3):
    with Machine(tmp_path, s3_state(prefix), s3.url).session() as session:
        session.acquire()
        shared = session.keys(Idempotency())
        s3.fail("lost", 1, method="PUT", path="idempotency")
        hold = shared.claim("k")

    assert isinstance(hold, RemoteKey)
