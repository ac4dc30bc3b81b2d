"""Machines that share a state, at random: whatever happens, nothing that was sent is lost.

They run, run without sending, publish half a run, are killed, lose their files, in any order. A
real server keeps the state between them.
"""

import shutil
import uuid
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    precondition,
    rule,
    run_state_machine_as_test,
)

from rocky.ledger import open_ledger
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import ModelRecords
from tests.state.machines import Machine, findings, rows, valkey_state

pytestmark = [pytest.mark.slow, pytest.mark.server]

MACHINES = 3
machine_numbers = st.integers(0, MACHINES - 1)


class Under:
    """A run that is under way on a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.steps = 0
        with ExitStack() as opened:
            self.session = opened.enter_context(machine.session())
            self.session.acquire()
            claim = opened.enter_context(self.session.claim([f"t{machine.number}"]))
            self.ledger = opened.enter_context(
                open_ledger(machine.ledger, is_alive_elsewhere=self.session.is_alive)
            )
            self.run = self.ledger.begin_run(machine.begun())
            claim.name(self.run)
            self.session.publish(self.run)
            self._opened = opened.pop_all()

    def step(self) -> None:
        self.steps += 1
        table = f"t{self.machine.number}.{self.steps}"
        self.ledger.record_models(self.run, [ModelRecords(*self.machine.records(self.run, table))])

    def finish(self) -> None:
        self.ledger.finish_run(self.run, RunStatus.SUCCESS, self.machine.now())
        self.ledger.close()
        self.session.finalize(self.run)
        self._opened.close()

    def kill(self) -> None:
        """As when its process is killed: nothing more is written or sent."""
        self._opened.close()


class Histories(RuleBasedStateMachine):
    port = 0

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(mkdtemp(prefix="histories-"))
        state = valkey_state(self.port, uuid.uuid4().hex)
        self.machines = [Machine(self.root / f"m{at}", state, "", at) for at in range(MACHINES)]
        self.under: dict[int, Under] = {}
        self.sent: set[str] = set()
        self.begun: set[str] = set()

    @rule(number=machine_numbers)
    def run(self, number: int) -> None:
        if number not in self.under:
            self.sent.add(self.machines[number].run(f"t{number}", "both"))

    @rule(number=machine_numbers)
    def run_without_sending(self, number: int) -> None:
        if number not in self.under and self.machines[number].ledger.exists():
            self.machines[number].record(f"t{number}")

    @rule(number=machine_numbers)
    def begin(self, number: int) -> None:
        if number not in self.under:
            self.under[number] = Under(self.machines[number])
            self.begun.add(self.under[number].run)

    @precondition(lambda self: self.under)
    @rule(data=st.data(), is_sent=st.booleans())
    def go_on(self, data, is_sent: bool) -> None:
        under = self.under[data.draw(st.sampled_from(sorted(self.under)))]
        under.step()
        if is_sent:
            under.session.publish(under.run)

    @precondition(lambda self: self.under)
    @rule(data=st.data(), is_killed=st.booleans())
    def end(self, data, is_killed: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.under)))
        under = self.under.pop(number)
        if is_killed:
            under.kill()
        else:
            under.finish()
            self.sent.add(under.run)

    @rule(number=machine_numbers)
    def lose_the_file(self, number: int) -> None:
        if number not in self.under:
            shutil.rmtree(self.machines[number].root, ignore_errors=True)

    def teardown(self) -> None:
        for under in self.under.values():
            under.kill()
        reader = Machine(self.root / "reader", self.machines[0].state, "", 9)
        with reader.session() as session:
            session.acquire()
        found = set(rows(reader.ledger, "run_history"))
        wrong = findings(reader.ledger)
        shutil.rmtree(self.root)

        assert set() == (self.sent | self.begun) - found
        assert [] == wrong


def test_whatever_happens_nothing_that_was_sent_is_lost(valkey_port, sample):
    histories = type("Histories", (Histories,), {"port": valkey_port})
    asked = settings(max_examples=len(sample(range(8))), stateful_step_count=20, deadline=None)

    run_state_machine_as_test(histories, settings=asked)
