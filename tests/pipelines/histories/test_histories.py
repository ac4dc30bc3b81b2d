"""Whatever happens to sources and runs, copies hold what they should.

`ROCKY_HISTORIES=500` tries that many histories, other ones each time.
"""

import os

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.pipelines.histories.replications import Replications


def chosen(few: int) -> settings:
    """A few histories, always the same; or as many as are asked for, and others each time."""
    asked = os.environ.get("ROCKY_HISTORIES")
    return settings(
        max_examples=int(asked or few),
        stateful_step_count=25,
        deadline=None,
        derandomize=asked is None,
        phases=[Phase.generate, Phase.shrink] if asked is None else [Phase.generate],
    )


@pytest.mark.slow
def test_copies_hold_what_they_should_whatever_happened(sample):
    run_state_machine_as_test(Replications, settings=chosen(len(sample(range(8)))))


@pytest.mark.slow
def test_a_watermark_that_is_deleted_counts_also_where_a_dead_run_had_made_the_newest_commit():
    """Somebody has recorded that commit since: its watermark was there, and was deleted."""
    history = Replications()
    try:
        history.run_and_die(fed=["customers", "items", "orders"], is_done=False, number=10)
        history.run()
        history.forget_the_watermark()
        history.run()
    finally:
        history.teardown()
