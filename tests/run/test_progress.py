"""Spark is asked for progress where somebody shows it, and never for most of the time."""

import time

import pytest

from rocky.cli.live import GroupListener, LineListener, LiveListener
from rocky.run.execute import steps
from rocky.run.outcomes import SilentListener, WithoutProgress
from tests.run.memory_engine import MemoryJobs
from tests.run.runs import Heard, Shop


@pytest.mark.parametrize(
    ("listener", "shown"),
    [(Heard, True), (LiveListener, True), (LineListener, False), (GroupListener, False),
     (SilentListener, False)],
)  # fmt: skip
def test_a_line_for_each_step_shows_no_progress(listener, shown):
    assert shown != issubclass(listener, WithoutProgress)


@pytest.mark.parametrize(("share", "most"), [(0, 100), (20, 1)])
@pytest.mark.slow
def test_a_slow_answer_is_not_asked_for_again_at_once(tmp_path, monkeypatch, share, most):
    asked = []

    def progress(_self, tag):
        asked.append(tag)
        time.sleep(0.05)
        return (1, 2)

    monkeypatch.setattr(MemoryJobs, "progress", progress)
    monkeypatch.setattr(steps, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(steps, "_LOOK_SHARE", share)
    Shop(tmp_path).run("alone", before_write=lambda _: time.sleep(0.7))

    assert 1 <= len(asked) <= most
    assert (share == 0) == (len(asked) > 1)
