"""Claims that machines see of each other, in real servers on loopback."""

import json
import os
import time
from collections.abc import Callable

import pytest

from rocky.errors import LedgerLocked, RetryBudgetExhausted, StateConflict
from rocky.ledger import open_ledger
from rocky.ledger.chain import Head
from rocky.ledger.copies import knows
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import ModelRecords
from rocky.state.claims import RemoteClaims, process_space
from rocky.state.session import RemoteSession
from tests.processes import fork_context
from tests.state.machines import Machine, findings, rows, s3_state, valkey_state, value

pytestmark = pytest.mark.server

Machines = Callable[..., Machine]


@pytest.fixture(params=["s3", "valkey"])
def machines(request, tmp_path, prefix) -> Machines:
    faults = request.getfixturevalue(request.param)

    def make(number: int, **settings: object) -> Machine:
        if request.param == "s3":
            state, address = s3_state(prefix, **settings), faults.url
        else:
            state, address = valkey_state(faults.port, prefix, **settings), ""
        return Machine(tmp_path / f"m{number}", state, address, number)

    return make


def opened(machine: Machine) -> RemoteSession:
    machine.root.mkdir(exist_ok=True)
    session = machine.session().__enter__()
    session.acquire()
    return session


def test_tables_of_a_living_run_are_kept_from_other_machines(machines):
    with opened(machines(1)) as one, opened(machines(2)) as two:
        with one.claim(["lake.shop.Orders", "lake.shop.items"]) as claim:
            claim.name("run-1")
            with pytest.raises(LedgerLocked) as caught:
                two.claim(["lake.shop.orders"])
            with two.claim(["lake.shop.other"]):
                pass
        with two.claim(["lake.shop.orders"]):
            pass

    said = str(caught.value)
    assert said.startswith("run `run-1` is writing `lake.shop.orders` (process ")
    assert "UTC" in said


def test_a_run_is_alive_elsewhere_as_long_as_it_holds_its_claim(machines):
    with opened(machines(1)) as one:
        with one.claim(["a"]) as claim:
            claim.name("run-1")
            with opened(machines(2)) as two:
                during = (two.is_alive("run-1"), two.is_alive("run-2"))
                living = [(each.run_id, each.targets) for each in two.living_runs()]
        with opened(machines(2)) as two:
            after = two.is_alive("run-1")

    assert ((True, False), False) == (during, after)
    assert [("run-1", ("a",))] == living


@pytest.mark.sampled
@pytest.mark.slow
def test_a_claim_that_is_not_refreshed_ends(machines):
    machine = machines(1)
    machine.claim_seconds = 3.0
    with opened(machine) as session:
        claims: RemoteClaims = session._claims
        claims.hold(["a"])
        # Of a process on another machine, as far as can be told, that was killed.
        forget_space(claims)
        at_first = len(claims.living())
        machine.clock.sleep(5)
        with claims.hold(["a"]):
            later = len(claims.living())

    assert (1, 1) == (at_first, later)


def forget_space(claims: RemoteClaims) -> None:
    (note,) = claims._shelf.list_notes("claims")
    said = {**json.loads(note.data), "space": "elsewhere"}
    claims._shelf.put_note(note.name, json.dumps(said).encode(), claims.seconds)


@pytest.mark.sampled
@pytest.mark.slow
def test_a_claim_is_refreshed_while_its_run_goes_on(machines):
    first, second = machines(1), machines(2)
    first.claim_seconds = second.claim_seconds = 4.0
    with opened(first) as one, opened(second) as two, one.claim(["a"]):
        first.clock.sleep(6)
        with pytest.raises(LedgerLocked):
            two.claim(["a"])


@pytest.mark.slow
def test_a_claim_that_could_not_be_refreshed_for_its_time_is_known_to_be_lost(tmp_path, prefix, s3):
    machine = Machine(tmp_path / "m", s3_state(prefix), s3.url, claim_seconds=0.5)
    with opened(machine) as session:
        with session.claim(["a"]) as claim:
            at_first = claim.was_lost
            s3.fail("500")
            wait_until(lambda: claim.was_lost)
            s3.heal()
        warned = session.warnings

    assert not at_first
    assert any("could not be told that this run is alive" in each for each in warned)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_claim_of_a_killed_process_of_this_machine_ends_with_it(machines):
    process = fork_context().Process(target=os.getpid)
    process.start()
    process.join()
    with opened(machines(1)) as session:
        claims: RemoteClaims = session._claims
        claims.hold(["a"])
        (note,) = claims._shelf.list_notes("claims")
        said = json.loads(note.data)
        said["claim"]["process"] = process.pid
        claims._shelf.put_note(note.name, json.dumps(said).encode(), claims.seconds)
        with claims.hold(["a"]):
            pass

    assert "" != process_space()


def test_a_run_that_is_alive_elsewhere_is_not_recorded_as_dead(machines):
    first, second = machines(1), machines(2)
    with opened(first) as one, one.claim(["a"]) as claim, open_ledger(first.ledger) as ledger:
        run = ledger.begin_run(first.begun())
        claim.name(run)
        one.publish(run)
        second.run("b")
        status = json.loads(value(second.ledger, "run_history", run))["status"]
        ledger.record_models(run, [ModelRecords(*first.records(run, "a"))])
        ledger.finish_run(run, RunStatus.SUCCESS, first.now())
        ledger.close()
        one.finalize(run)

    assert "Running" == status
    assert [] == findings(first.ledger)


def test_what_a_run_taken_for_dead_recorded_is_left_out_and_kept_aside(machines):
    first, second = machines(1), machines(2)
    with opened(first) as one:
        with open_ledger(first.ledger) as ledger:
            run = ledger.begin_run(first.begun())
            one.publish(run)
            other = second.run("b")
            ledger.record_models(run, [ModelRecords(*first.records(run, "a"))])
            ledger.finish_run(run, RunStatus.SUCCESS, first.now())
        with pytest.raises(StateConflict, match=f"says that run `{run}` died"):
            one.finalize(run)
    with opened(first) as again:
        warnings = again.warnings
        last = first.record("c", session=again)
        again.finalize(last)

    assert 1 == len(warnings)
    assert [run, other, last] == sorted(rows(first.ledger, "run_history"))
    assert ["b", "c"] == rows(first.ledger, "watermarks")
    (kept,) = first.root.glob("*.unpublished-*")
    assert ["a"] == rows(kept, "watermarks")
    assert [] == findings(first.ledger)


def test_tables_that_cannot_be_claimed_stop_the_run_or_are_warned_of(tmp_path, prefix, s3):
    machine = Machine(tmp_path / "m", s3_state(prefix), s3.url)
    with opened(machine) as session:
        s3.fail("500")
        with pytest.raises(RetryBudgetExhausted):
            session.claim(["a"])
        s3.heal()
    machine.state = machine.state._replace(on_upload_failure="skip")
    with opened(machine) as session:
        s3.fail("500")
        with session.claim(["a"]) as claim:
            claim.name("run-1")
        doubt = session.is_alive("run-1")

    assert 1 == len(session.warnings)
    assert doubt


def test_a_published_head_is_always_one_of_the_published_chain(machines):
    first, second = machines(1), machines(2)
    first.run("a")
    with opened(second) as session:
        first.run("b")
        with open_ledger(second.ledger) as ledger, session.claim(["d"]) as claim:
            run = ledger.begin_run(second.begun())
            claim.name(run)
            heads: list[Head | None] = [session.published_head, session.publish(run)]
            first.run("c")
            ledger.record_models(run, [ModelRecords(*second.records(run, "d"))])
            heads.append(session.publish(run))
            local = ledger.head()
    with opened(first):
        pass

    assert [True] * 3 == [head is not None and knows(first.ledger, head) for head in heads]
    assert not knows(first.ledger, local)
