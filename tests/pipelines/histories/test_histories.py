"""Whatever happens to sources and runs, copies hold what they should.

`ROCKY_HISTORIES=500` tries that many histories, other ones each time.
"""

import os

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


def test_copies_hold_what_they_should_whatever_happened():
    run_state_machine_as_test(Replications, settings=chosen(8))
