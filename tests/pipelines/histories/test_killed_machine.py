"""A machine dies in the middle of a run, and another takes over with nothing but what it had sent.

Real processes, killed; real servers that keep the state; a warehouse that both write.
"""

import os
import signal
import time
from collections.abc import Callable

import pytest

from rocky.errors import LedgerLocked
from rocky.ledger.run_records import DIED, RunStatus
from rocky.pipelines.report import PipelineResult
from tests.pipelines.histories import lake_machines
from tests.pipelines.histories.lake_machines import (
    PATIENCE_SECONDS,
    SCHEMA,
    LakeMachine,
    wait_for,
)
from tests.pipelines.lakes import at, statuses
from tests.processes import Running

pytestmark = [pytest.mark.slow, pytest.mark.server, pytest.mark.sampled]

TABLES = ("customers", "items", "orders")
Machines = Callable[[str], LakeMachine]


@pytest.fixture
def backend() -> str:
    return "valkey"


@pytest.fixture
def machines(request, tmp_path, prefix, backend) -> Machines:
    settings = request.getfixturevalue(f"{backend}_settings")
    return lambda name: LakeMachine(tmp_path, name, backend, prefix, settings)


def begin(machine: LakeMachine, point: str, *filters: str) -> Running:
    """A run of a machine as a process of its own."""
    arguments = [str(machine.shared), machine.name, machine.backend, machine.prefix, point]
    environment = {**os.environ, **machine.environment}
    return Running(lake_machines.main, *arguments, *filters, env=environment)


def run_and_die(machine: LakeMachine, point: str) -> None:
    with begin(machine, point) as process:
        _, said = process.communicate(timeout=120)
        assert -signal.SIGKILL == process.returncode, said


def run_when_free(machine: LakeMachine) -> PipelineResult:
    """A run that waits until the claims of the dead have ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return machine.run()
        except LedgerLocked:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def put(machine: LakeMachine, *numbers: int) -> None:
    """Rows in every table, in a file of their own."""
    for table in TABLES:
        rows = [{"id": number, "synced": at(number)} for number in numbers]
        machine.put(table, f"part-{numbers[0]}", rows)


def ids(machine: LakeMachine) -> dict[str, list[int]]:
    return {table: machine.ids(table) for table in TABLES}


def everywhere(*numbers: int) -> dict[str, list[int]]:
    return {table: list(numbers) for table in TABLES}


@pytest.mark.parametrize(
    ("backend", "point"),
    [
        ("valkey", "after commit 1"),
        ("valkey", "after record 1"),
        ("valkey", "before finish 1"),
        ("valkey", "before send 1"),
        ("s3", "after commit 1"),
    ],
)
def test_another_machine_goes_on_where_one_died_and_every_row_is_there_once(machines, point):
    one, two = machines("one"), machines("two")
    put(one, 1, 2)
    one.run()
    put(one, 3)

    run_and_die(one, point)
    taken = run_when_free(two)

    assert 0 == taken.run.exit_code
    assert everywhere(1, 2, 3) == ids(two)
    assert [] == two.findings()
    ended = [(run.hostname, run.status, run.reason) for run in two.runs()]
    lost = ("one", RunStatus.SUCCESS, None)
    if point != "after send 1":
        lost = ("one", RunStatus.FAILURE, DIED)
    assert [("one", RunStatus.SUCCESS, None), lost, ("two", RunStatus.SUCCESS, None)] == ended

    put(one, 4)
    back = one.run()

    assert 0 == back.run.exit_code
    assert everywhere(1, 2, 3, 4) == ids(one)
    assert [] == one.findings()
    assert 0 == two.run().run.exit_code
    assert everywhere(1, 2, 3, 4) == ids(two)
    assert [] == two.findings()


@pytest.mark.parametrize("point", ["after commit 1"])
def test_a_first_run_that_died_is_taken_over_too(machines, point):
    one, two = machines("one"), machines("two")
    put(one, 1, 2)

    run_and_die(one, point)
    run_when_free(two)

    assert everywhere(1, 2) == ids(two)
    assert [] == two.findings()
    assert [DIED, None] == [run.reason for run in two.runs()]


@pytest.mark.parametrize("backend", ["valkey"])
def test_a_living_run_keeps_its_tables_from_other_machines_and_no_others(machines):
    one, two = machines("one"), machines("two")
    put(one, 1)
    with begin(one, "wait", "table=orders") as process:
        try:
            wait_for(one.root / "writing")
            with pytest.raises(LedgerLocked) as refused:
                two.run()
            beside = two.run("table=items")
            (one.root / "go-on").touch()
            _, wrong = process.communicate(timeout=60)
        finally:
            process.kill()

    message = str(refused.value)
    assert f"is writing `{SCHEMA}.orders`" in message
    assert "on `one`" in message
    assert {f"{SCHEMA}.items": "success"} == statuses(beside)
    assert 0 == process.returncode, wrong
    assert f"run `{one.runs()[0].run_id}`" in message
    after = two.run()
    assert {f"{SCHEMA}.customers": "success"} == statuses(after)
    assert everywhere(1) == ids(two)
    assert [] == two.findings()
