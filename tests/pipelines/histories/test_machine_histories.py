"""Two machines copy one lake in turns, and die: copies hold what they should all the same.

A real server keeps the state. Who comes next finds only what was sent; a machine that died and
comes back still has the rest.
"""

import shutil
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import rule, run_state_machine_as_test

from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger.writer import open_ledger
from rocky.pipelines.report import PipelineResult
from rocky.state.backend import CLAIMS
from rocky.state.session import RemoteSession
from tests.pipelines.histories.lake_machines import LakeMachine
from tests.pipelines.histories.reference import Known
from tests.pipelines.histories.replications import ONE_DAY, Replications
from tests.pipelines.histories.test_histories import chosen
from tests.pipelines.lakes import LakeProject

pytestmark = [pytest.mark.slow, pytest.mark.server]


class SharedLake(LakeProject):
    """A lake and a warehouse of two machines, one of which is at work: `here`."""

    def __init__(self, root: Path, machines: tuple[LakeMachine, ...]) -> None:
        super().__init__(root)
        self.machines = machines
        self.here = machines[0]

    @property
    def state(self) -> Path:
        return self.here.state

    def run(self, **asked: Any) -> PipelineResult:
        self.now += ONE_DAY
        return self.here.run(now=self.now, **asked)


class MachineHistories(Replications):
    settings: dict[str, str] = {}  # noqa: RUF012 - set once by the test

    def open_project(self) -> SharedLake:
        prefix = uuid.uuid4().hex
        self.known_after: dict[tuple[str, str], Known] = {}
        return SharedLake(
            self.root,
            tuple(
                LakeMachine(self.root, name, "valkey", prefix, self.settings)
                for name in ("one", "two")
            ),
        )

    @rule()
    def change_machines(self) -> None:
        self._remember()
        one, two = self.project.machines
        self.project.here = two if self.project.here is one else one

    @rule()
    def lose_the_state_file(self) -> None:
        self._remember()
        for file in self.project.here.root.glob(".rocky-state*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()

    def begin(self) -> None:
        """See what this machine knows: who was here before may not have sent everything."""
        self._remember()
        with self.project.here.session() as session:
            session.acquire()
        recorded = self.recorded()
        for name, table in self.tables.items():
            run_id = recorded.get(name)
            table.known = self.known_after[name, run_id] if run_id else Known()

    def _remember(self) -> None:
        """What the ledger that was last looked at knows of each copy, by who said it."""
        for name, run_id in self.recorded().items():
            self.known_after.setdefault((name, run_id), self.tables[name].known)

    def bury(self) -> None:
        """The claims of the dead end."""
        with self.project.here.session() as session:
            end_claims(session)

    def forget(self, table: str) -> None:
        with self.project.here.session() as session:
            session.acquire()
            with session.claim([table]), open_ledger(self.project.state) as ledger:
                remove_watermark(ledger, table)
            session.finalize()
            with open_ledger(self.project.state) as ledger:
                self.leave(ledger)
        run_id = self.recorded()["orders"]
        known = self.known_after["orders", run_id]
        self.known_after["orders", run_id] = replace(known, mark=None)

    def findings(self) -> list[str]:
        return self.project.here.findings()


def end_claims(session: RemoteSession) -> None:
    shelf = session._shelf
    for note in shelf.list_notes(CLAIMS):
        shelf.delete_note(note.name)


def test_machines_that_take_turns_and_die_copy_every_row_once(valkey_settings, sample):
    histories = type("Histories", (MachineHistories,), {"settings": valkey_settings})

    run_state_machine_as_test(histories, settings=chosen(len(sample(range(6)))))
