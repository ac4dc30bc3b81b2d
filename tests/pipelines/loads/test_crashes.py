"""Loads that die: a file that reached its table is never loaded again, and evidence is whole."""

import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from rocky.errors import ConcurrentChange, StateLost
from rocky.ledger.pipeline_state import load_file_hashes
from rocky.store.delta.change import Change, Committed
from rocky.store.warehouse import Table
from tests.pipelines.lakes import statuses
from tests.pipelines.loads import crash
from tests.pipelines.loads.folders import ORDERS, LoadProject, errors
from tests.processes import run_process
from tests.run.runs import verify

pytestmark = pytest.mark.sampled

POINTS = ["before commit", "after commit", "before record", "after record", "before finish"]


def kill_at(root: Path, point: str) -> None:
    code, _, said = run_process(crash.main, str(root), point)
    assert -signal.SIGKILL == code, said


def failing_once() -> Callable[..., Committed]:
    """A commit whose answer is lost the first time it was made."""
    commit, lost = Table.commit, []

    def commit_and_lose(table: Table, change: Change) -> Committed:
        committed = commit(table, change)
        if not lost:
            lost.append(committed)
            raise ConcurrentChange("the answer was lost")
        return committed

    return commit_and_lose


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "loaded_before"), [*((each, True) for each in POINTS), (POINTS[1], False)]
)
def test_a_file_is_in_its_table_once_after_a_killed_load(tmp_path, point, loaded_before):
    project = LoadProject(tmp_path)
    if loaded_before:
        project.put_text("zero.csv", "id\n0\n")
        project.run()
    project.put_text("one.csv", "id\n1\n")

    kill_at(tmp_path, point)
    project.put_text("two.csv", "id\n2\n")
    report = project.run()

    assert {ORDERS: "success"} == statuses(report)
    assert ([0] if loaded_before else []) + [1, 2] == project.ids()
    assert [] == verify(tmp_path)
    project.opened = 0
    again = project.run()
    assert 0 == project.opened
    assert {} == statuses(again)


@pytest.mark.slow
def test_what_a_killed_load_has_brought_is_recorded_by_the_next(tmp_path):
    project = LoadProject(tmp_path)
    one = project.put_text("one.csv", "id\n1\n")
    kill_at(tmp_path, "after commit")

    report = project.run()

    assert {ORDERS: "success"} == statuses(report)
    assert 1 == len(load_file_hashes(project.state, [ORDERS])[ORDERS])
    assert [1] == project.ids()
    assert 1 == project.versions()
    assert [] == verify(tmp_path)
    one.unlink()


@pytest.mark.slow
def test_a_file_that_a_killed_load_has_brought_may_leave_and_come_back(tmp_path):
    project = LoadProject(tmp_path)
    one = project.put_text("one.csv", "id\n1\n")
    kill_at(tmp_path, "after commit")
    one.rename(tmp_path / "one.csv")
    project.put_text("two.csv", "id\n2\n")
    project.run()
    (tmp_path / "one.csv").rename(one)

    project.run()

    assert [1, 2] == project.ids()


@pytest.mark.slow
def test_a_file_that_a_killed_replacement_has_left_out_is_loaded_when_it_comes_back(tmp_path):
    project = LoadProject(tmp_path)
    one = project.put_text("one.csv", "id\n1\n")
    project.put_text("two.csv", "id\n2\n")
    project.run()
    one.rename(tmp_path / "one.csv")
    project.configure(more="[pipeline.bronze.options]\ntruncate_first = true\n")
    kill_at(tmp_path, "after commit")
    assert [2] == project.ids()
    project.configure()
    (tmp_path / "one.csv").rename(one)

    project.run()

    assert [1, 2] == project.ids()
    assert [] == verify(tmp_path)


class Elsewhere(LoadProject):
    """Another runner, whose ledger knows nothing of the first one's."""

    @property
    def state(self) -> Path:
        return self.root / "elsewhere.db"


@pytest.mark.slow
def test_two_runners_that_find_one_file_do_not_both_load_it(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("one.csv", "id\n1\n")
    other, left = Elsewhere(tmp_path), [True]
    other.now += timedelta(hours=1)

    def load_first(_: str) -> None:
        if left:
            left.clear()
            other.run()

    report = project.run(before_write=load_first)

    assert [1] == project.ids()
    assert "was made by no run that is recorded" in str(errors(report)[ORDERS])
    with pytest.raises(StateLost, match="was written by run"):
        project.run()
    assert [1] == project.ids()


@pytest.mark.slow
def test_a_runner_whose_ledger_knows_nothing_of_the_table_loads_nothing(tmp_path):
    project = LoadProject(tmp_path)
    project.put_text("zero.csv", "id\n0\n")
    project.run()
    project.put_text("one.csv", "id\n1\n")

    with pytest.raises(StateLost, match="was written by run"):
        Elsewhere(tmp_path).run()
    project.run()

    assert [0, 1] == project.ids()


def test_an_attempt_that_failed_after_its_commit_is_not_made_again(tmp_path, monkeypatch):
    project = LoadProject(tmp_path, more="[resilience]\ninitial_backoff_ms = 1\n")
    project.put_text("one.csv", "id\n1\n")
    monkeypatch.setattr(Table, "commit", failing_once())

    report = project.run()

    assert {ORDERS: "success"} == statuses(report)
    assert [1] == project.ids()
    assert 1 == project.versions()
    assert [] == verify(tmp_path)
