"""Trying again: waits that grow, and a number of tries that a run shares."""

from random import Random
from typing import NamedTuple

from rocky.retry import RetryAllowance, wait_ms


class Settings(NamedTuple):
    initial_backoff_ms: int = 100
    max_backoff_ms: int = 500
    backoff_multiplier: float = 2.0
    jitter: bool = False


def test_a_wait_grows_from_try_to_try_up_to_the_longest():
    waits = [wait_ms(Settings(), tried, (0.5, 1.0), Random(1)) for tried in (1, 2, 3, 4)]

    assert [100, 200, 400, 500] == waits


def test_with_jitter_a_wait_stays_within_its_share():
    random = Random(1)
    waits = [wait_ms(Settings(jitter=True), 2, (0.5, 1.0), random) for _ in range(50)]

    assert all(100 <= wait <= 200 for wait in waits)
    assert 1 < len(set(waits))


def test_an_allowance_is_used_up():
    allowance = RetryAllowance(2)

    assert [True, True, False, False] == [allowance.take() for _ in range(4)]
    assert RetryAllowance(None).take()
