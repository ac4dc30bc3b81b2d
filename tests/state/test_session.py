"""The remote state in real servers on loopback: what one machine leaves, another finds."""

from collections.abc import Callable

import pytest

from rocky.ledger import open_ledger
from rocky.ledger.run_records import EngineRecord, RunStatus
from rocky.ledger.writer import ModelRecords
from tests.state.machines import (
    Machine,
    findings,
    rows,
    s3_state,
    tiered_state,
    valkey_state,
)

pytestmark = pytest.mark.server

Machines = Callable[..., Machine]


@pytest.fixture(params=["s3", "valkey", "tiered"])
def machines(request, tmp_path, prefix) -> Machines:
    """Makes machines that share a state, kept in each of the backends."""
    faults = {
        name: request.getfixturevalue(name)
        for name in ("s3", "valkey")
        if request.param in (name, "tiered")
    }

    def make(number: int, **settings: object) -> Machine:
        match request.param:
            case "s3":
                state = s3_state(prefix, **settings)
            case "valkey":
                state = valkey_state(faults["valkey"].port, prefix, **settings)
            case _:
                state = tiered_state(faults["valkey"].port, prefix, **settings)
        address = faults["s3"].url if "s3" in faults else ""
        return Machine(tmp_path / f"m{number}", state, address, number)

    return make


def test_a_machine_without_a_file_goes_on_where_another_ended(machines):
    first, second = machines(1), machines(2)

    one = first.run("a")
    two = second.run("b")

    assert [one, two] == rows(second.ledger, "run_history")
    assert [] == findings(second.ledger)
    assert ["state.download absent", "state.upload ok", "state.upload ok"] == first.outcomes
    assert ["state.download ok", "state.upload ok"] == [
        each for each in second.outcomes if "cache" not in each
    ]


def test_a_file_that_is_behind_is_brought_up_to_date(machines):
    first, second = machines(1), machines(2)
    one, two = first.run("a"), second.run("b")

    with first.session() as session:
        session.acquire()

    assert [one, two] == rows(first.ledger, "run_history")
    assert first.ledger.read_bytes()[100:] == second.ledger.read_bytes()[100:]


def test_two_who_begin_at_once_share_one_ledger(machines):
    first, second = machines(1), machines(2)
    with first.session() as one, second.session() as two:
        one.acquire()
        two.acquire()
        runs = [first.record("a"), second.record("b")]
        one.finalize()
        two.finalize()

    assert sorted(runs) == rows(second.ledger, "run_history")
    assert ["a", "b"] == rows(second.ledger, "watermarks")
    assert [] == findings(second.ledger)


def test_the_loser_takes_the_winner_and_puts_its_records_on_top(machines):
    first, second = machines(1), machines(2)
    first.run("z")
    with second.session() as loser:
        loser.acquire()
        mine = second.record("b")
        others = [first.run("a"), first.run("a")]
        loser.finalize()

    assert sorted([mine, *others]) == rows(second.ledger, "run_history")[1:]
    assert [] == findings(second.ledger)
    assert 1 == second.events[-1].merges


def test_records_travel_while_a_run_goes_on_and_the_chain_stays_one(machines):
    first, second = machines(1), machines(2)
    first.run("z")
    with second.session() as session:
        session.acquire()
        with open_ledger(second.ledger) as ledger, session.claim(["b", "c"]) as claim:
            run = ledger.begin_run(second.begun())
            claim.name(run)
            heads = [session.publish(run)]
            first.run("a")
            ledger.amend_run(run, engine=EngineRecord("4", "w", {}).to_json())
            ledger.record_models(run, [ModelRecords(*second.records(run, "b"))])
            heads.append(session.publish(run))
            first.run("a")
            ledger.record_models(run, [ModelRecords(*second.records(run, "c"))])
            heads.append(session.publish(run))
            ledger.finish_run(run, RunStatus.SUCCESS, second.now())
        session.finalize(run)

    assert None not in heads
    assert sorted(heads) == heads
    assert ["a", "b", "c", "z"] == rows(second.ledger, "watermarks")
    assert [] == findings(second.ledger)


def test_what_was_not_sent_is_sent_by_the_next_run(machines):
    first, second = machines(1), machines(2)
    first.run("a")
    lost = first.record("b")
    other = second.run("c")
    last = first.run("d")

    assert sorted([lost, other, last]) == rows(first.ledger, "run_history")[1:]
    assert [] == findings(first.ledger)


def test_doing_it_twice_changes_nothing(machines):
    first = machines(1)
    first.run("a")
    before = first.ledger.read_bytes()
    for _ in range(2):
        with first.session() as session:
            session.acquire()
            session.finalize()

    assert before == first.ledger.read_bytes()
