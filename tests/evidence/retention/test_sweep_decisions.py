"""Which runs a sweep forgets, and for whose sake others stay."""

import pytest

from rocky.evidence.retention.sweep_decisions import (
    KeepRunReason,
    PastRun,
    RunReferences,
    decide_runs,
)
from rocky.ledger.record import RunId

ALL = ("history", "lineage", "audit")
OLD = [RunId(f"run-2020010{day}-000000-000") for day in range(1, 6)]
NEW = RunId("run-20260101-000000-000")


def runs(**changes):
    """Five old runs of a warehouse and a new one; what is said of one is by its number."""
    found = {each: PastRun(each, "w") for each in (*OLD, NEW)}
    for number, facts in changes.items():
        for name, value in facts.items():
            setattr(found[OLD[int(number[1:])]], name, value)
    return found


def decide(found, leaning=RunReferences(), applies_to=ALL):  # noqa: B008 - frozen
    return decide_runs(found, OLD, leaning, applies_to)


def test_runs_that_nothing_leans_on_are_forgotten_oldest_first():
    verdicts = decide(runs())

    assert (tuple(OLD), {}) == (verdicts.forgotten, verdicts.kept)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"running": True}, KeepRunReason.RUNNING),
        ({"committed": True}, KeepRunReason.COMMITTED),
        ({"unfinished": True}, KeepRunReason.UNCERTAIN),
        ({"warehouse": "another"}, KeepRunReason.LATEST),
        ({"files": {"a"}}, KeepRunReason.LEANED_ON),
    ],
)
def test_a_run_stays_for_what_it_is_or_left(facts, why):
    verdicts = decide(runs(r2=facts))

    assert (OLD[2] not in verdicts.forgotten, {why: 1}) == (True, verdicts.kept)


def test_an_unfinished_run_goes_when_no_log_has_a_commit_of_it():
    found = runs(r1={"unfinished": True}, r2={"unfinished": True})
    verdicts = decide(found, RunReferences(in_logs={"w": {OLD[1]}}))

    assert (OLD[0], *OLD[2:]) == verdicts.forgotten
    assert {KeepRunReason.COMMITTED: 1} == verdicts.kept


def test_what_a_kept_run_reused_stays_and_what_that_one_reused_too():
    found = runs(r3={"reused": {OLD[1]}}, r1={"reused": {OLD[0]}})
    found[NEW].reused = {OLD[3]}
    verdicts = decide(found)

    assert (OLD[2], OLD[4]) == verdicts.forgotten
    assert {KeepRunReason.REUSED: 3} == verdicts.kept


def test_what_is_adopted_or_indexed_stays():
    found = runs()
    found[NEW].adopted = {OLD[0]}
    verdicts = decide(found, RunReferences(named={OLD[4]}))

    assert tuple(OLD[1:4]) == verdicts.forgotten
    assert {KeepRunReason.ADOPTED: 1, KeepRunReason.INDEXED: 1} == verdicts.kept


def test_of_several_that_vouch_for_the_same_the_newest_stays():
    found = runs(**{f"r{each}": {"hashes": {"ab"}} for each in (0, 1, 2)})
    verdicts = decide(found, RunReferences(hashes={"ab"}))

    assert OLD[2] not in verdicts.forgotten
    assert {KeepRunReason.LEANED_ON: 1} == verdicts.kept


def test_a_hash_that_a_kept_run_vouches_for_keeps_nobody():
    found = runs(r0={"hashes": {"ab"}})
    found[NEW].hashes = {"ab"}

    assert tuple(OLD) == decide(found, RunReferences(hashes={"ab"})).forgotten


@pytest.mark.parametrize("left_out", ALL)
def test_a_domain_that_is_left_out_keeps_runs_with_records_in_it(left_out):
    found = runs(r0={"domains": {"lineage"}}, r1={"domains": {"audit"}})
    forgotten = decide(found, applies_to=[each for each in ALL if each != left_out]).forgotten
    kept = {"history": OLD, "lineage": [OLD[0]], "audit": [OLD[1]]}[left_out]

    assert tuple(each for each in OLD if each not in kept) == forgotten
