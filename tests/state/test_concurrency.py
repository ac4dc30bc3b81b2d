"""Many who publish at once, and some who are killed at it: nothing is lost, the chain is one."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rocky.ledger import open_ledger
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import ModelRecords
from rocky.project.configuration.blocks import State
from tests.processes import fork_context
from tests.state.machines import Machine, findings, rows, s3_state, valkey_state

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.sampled]

WRITERS = 4
ROUNDS = 2


@pytest.fixture(params=["s3", "valkey"])
def shared(request, prefix) -> tuple[State, str]:
    """A state, and where its bucket is."""
    if request.param == "s3":
        return s3_state(prefix), request.getfixturevalue("s3").url
    return valkey_state(request.getfixturevalue("valkey_port"), prefix), ""


def test_threads_that_publish_at_once_lose_nothing(tmp_path, shared):
    machines = [Machine(tmp_path / f"m{each}", *shared, each) for each in range(WRITERS)]

    def work(machine: Machine) -> list[str]:
        return [machine.run(f"t{machine.number}") for _ in range(ROUNDS)]

    with ThreadPoolExecutor(WRITERS) as pool:
        runs = [run for found in pool.map(work, machines) for run in found]

    check_all(tmp_path, shared, runs)


def test_processes_that_publish_at_once_lose_nothing(tmp_path, shared):
    with fork_context().Pool(WRITERS) as pool:
        tasks = [(tmp_path / f"m{each}", *shared, each) for each in range(WRITERS)]
        runs = [run for found in pool.starmap(run_often, tasks) for run in found]

    check_all(tmp_path, shared, runs)


def run_often(root: Path, state: State, address: str, number: int) -> list[str]:
    machine = Machine(root, state, address, number)
    return [machine.run(f"t{number}") for _ in range(ROUNDS)]


def check_all(tmp_path: Path, shared: tuple[State, str], runs: list[str]) -> None:
    reader = Machine(tmp_path / "reader", *shared)
    with reader.session() as session:
        session.refresh()

    assert WRITERS * ROUNDS == len(set(runs))
    assert sorted(runs) == rows(reader.ledger, "run_history")
    assert [f"t{each}" for each in range(WRITERS)] == rows(reader.ledger, "watermarks")
    assert [] == findings(reader.ledger)


def test_two_runs_of_one_machine_share_its_file_and_lose_nothing(tmp_path, shared):
    machine = Machine(tmp_path / "m", *shared)
    other = Machine(tmp_path / "other", *shared, 9)
    machine.run("a")
    with machine.session() as one, machine.session() as two:
        one.acquire()
        other.run("o")
        two.acquire()
        with open_ledger(machine.ledger) as ledger:
            runs = [ledger.begin_run(machine.begun()) for _ in range(2)]
            one.publish(runs[0])
            ledger.record_models(runs[1], [ModelRecords(*machine.records(runs[1], "b"))])
            two.publish(runs[1])
            for run in runs:
                ledger.finish_run(run, RunStatus.SUCCESS, machine.now())
        one.finalize(runs[0])
        two.finalize(runs[1])
    machine.run("c")

    assert 5 == len(rows(machine.ledger, "run_history"))
    assert ["a", "b", "c", "o"] == rows(machine.ledger, "watermarks")
    assert [] == findings(machine.ledger)


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.06, 0.15])
def test_a_process_killed_while_it_publishes_harms_nobody(tmp_path, prefix, s3, delay):
    state = s3_state(prefix)
    victim, other = (Machine(tmp_path / f"m{each}", state, s3.url, each) for each in (1, 2))
    victim.run("a")
    process = fork_context().Process(target=publish_for_ever, args=(victim.root, state, s3.url, 1))
    s3.fail("slow", method="PUT", path="state.db")
    begun = len(s3.seen)
    process.start()
    while len([each for each in s3.seen[begun:] if each[0] == "PUT" and "state" in each[1]]) < 2:
        assert process.is_alive()
        time.sleep(0.005)
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    s3.heal()

    other.run("b")
    assert [] == findings(other.ledger)
    victim.runs = 1000
    last = victim.run("c")
    assert [] == findings(victim.ledger)
    assert last in rows(victim.ledger, "run_history")
    assert [] == list(victim.root.glob("*.sync-*"))


def publish_for_ever(root: Path, state: State, address: str, number: int) -> None:
    machine = Machine(root, state, address, number, runs=100)
    while True:
        machine.run("v")
