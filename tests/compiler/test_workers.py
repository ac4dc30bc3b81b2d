import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.generate import generate

from rocky.compiler import stale_models
from tests.compiler.projects import answers, compiled, edit

pytestmark = pytest.mark.slow

SHARED_FROM = 80
"""Fewer models than the compiler shares out by itself: what it does with many, it does with these."""
MODELS = SHARED_FROM + 20


@pytest.fixture(scope="module", autouse=True)
def shared_out() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stale_models, "PARALLEL_FROM", SHARED_FROM)
        yield


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """More models than one process would be left with."""
    root = tmp_path_factory.mktemp("generated")
    generate(root, MODELS)
    return root


@pytest.fixture(scope="module")
def alone(project):
    return compiled(project, jobs=1, cache=False)


def test_workers_give_what_one_process_gives(project, alone):
    shared = compiled(project, jobs=2, cache=False)

    assert MODELS == shared.statistics.bound
    assert alone.statistics == shared.statistics
    assert answers(alone) == answers(shared)


def test_a_generated_project_has_no_findings_and_twelve_columns_a_model(alone):
    assert () == alone.diagnostics
    assert (MODELS * 12, 0) == (alone.statistics.columns, alone.statistics.unknown_columns)


@pytest.mark.slow
def test_records_of_workers_hold_for_one_process(project, alone):
    compiled(project, jobs=2)
    again = compiled(project, jobs=1)

    assert 0 == again.statistics.bound
    assert answers(alone) == answers(again)


@pytest.mark.slow
def test_a_change_that_reaches_many_is_shared_out_and_right(project):
    compiled(project, jobs=2)
    for n in range(20):
        edit(project, f"sources/table_{n}.toml", "decimal(12,2)", "decimal(14,3)")
    shared = compiled(project, jobs=2)

    assert MODELS == shared.statistics.bound
    assert answers(compiled(project, jobs=1, cache=False)) == answers(shared)
    for n in range(20):
        edit(project, f"sources/table_{n}.toml", "decimal(14,3)", "decimal(12,2)")


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("victims", [1, 2])
def test_killed_workers_only_cost_time(project, alone, monkeypatch, victims):
    start = stale_models.Pool.__init__

    def start_and_lose_some(self, *arguments):
        start(self, *arguments)
        for process in self._processes[:victims]:
            os.kill(process.pid, signal.SIGKILL)

    monkeypatch.setattr(stale_models.Pool, "__init__", start_and_lose_some)
    survived = compiled(project, jobs=2, cache=False)

    assert answers(alone) == answers(survived)
