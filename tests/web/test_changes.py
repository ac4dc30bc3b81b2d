"""Changes: whatever an answer was made of is noticed when it is other, from the first moment on."""

import json
import os
import subprocess
import time
from datetime import UTC, datetime
from threading import Event

import pytest

from rocky.ledger.claims import Claim, hold_claim
from rocky.ledger.record import RunId
from rocky.operations.execution.saves import Saves
from rocky.protocol import memory as memories
from rocky.protocol.changes import Lookout
from rocky.protocol.memory import Memory
from rocky.protocol.notices import Notices
from tests.operations.projects import GOOD, open_project

STATE = ".rocky-state.db"


def git(root, *arguments):
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *settings, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def looking(tmp_path):
    """A function that says which kinds of things changed since it was last called."""
    lookout = Lookout(Memory(open_project(tmp_path, GOOD)), Notices())
    seen = {}

    def changed():
        now = lookout._look()
        kinds = {kind for kind in {**seen, **now} if seen.get(kind) != now.get(kind)}
        seen.clear()
        seen.update(now)
        return kinds

    changed()
    return changed


def test_a_run_that_is_killed_is_noticed_although_it_writes_nothing(tmp_path, looking):
    (tmp_path / STATE).write_bytes(b"a ledger")
    claim = Claim(
        run_id=RunId("run-1"), process=1, hostname="h", since=datetime.now(UTC), targets=()
    )
    held = hold_claim(tmp_path / STATE, claim)
    assert {"ledger"} == looking()
    assert set() == looking()

    os.close(held.descriptor)

    assert {"ledger"} == looking()


def test_a_fetch_that_moves_what_changes_are_compared_with_is_noticed(tmp_path, looking):
    git(tmp_path, "init", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "one")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert {"git"} == looking()
    assert set() == looking()

    git(tmp_path, "commit-tree", "HEAD^{tree}", "-m", "two")
    git(tmp_path, "update-ref", "-d", "refs/remotes/origin/main")

    assert {"git"} == looking()


def test_columns_that_were_discovered_are_noticed(tmp_path, looking):
    folder = tmp_path / ".rocky/schemas"
    folder.mkdir(parents=True)
    (folder / "raw.orders.json").write_text("{}")

    assert {"files"} == looking()
    assert set() == looking()


@pytest.mark.slow
def test_what_is_saved_before_the_system_tells_of_saves_is_noticed(tmp_path, monkeypatch):
    notices = Notices()
    lookout = Lookout(Memory(open_project(tmp_path, GOOD)), notices)
    past = time.time_ns()
    monkeypatch.setattr(lookout, "_begun", past)
    # As if loading a large project had taken until now.
    (tmp_path / "models/more.sql").write_text("SELECT order_id FROM good\n")
    lookout.start()
    try:
        found = notices.after(0, 10)
    finally:
        lookout.close()

    assert [["files"]] == [json.loads(each.data)["kinds"] for each in found]


@pytest.mark.slow
def test_where_the_system_does_not_tell_of_saves_they_are_looked_for(tmp_path, monkeypatch):
    def refuse(self, stop: Event):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(Saves, "heard", refuse)
    monkeypatch.setattr("rocky.protocol.changes._PAUSE", 0.05)
    workspace = open_project(tmp_path, GOOD)
    time.sleep(0.05)
    notices = Notices()
    lookout = Lookout(Memory(workspace), notices)
    lookout.start()
    try:
        assert ["unwatched"] == [each.event for each in notices.after(0, 10)]
        (tmp_path / "models/good.sql").unlink()
        found = notices.after(1, 10)
    finally:
        lookout.close()

    assert [["files"]] == [json.loads(each.data)["kinds"] for each in found]


def test_large_answers_do_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(memories, "_MOST_BYTES", 1000)
    memory = Memory(open_project(tmp_path, GOOD))

    for number in range(50):
        memory.kept(number, lambda: bytes(400))

    assert len(memory._answers) <= 3
