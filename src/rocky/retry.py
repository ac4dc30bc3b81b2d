"""Trying again: how long to wait before the next try, and how often a run may try at all.

What may be tried again, and when a service counts as down, is for the caller to say.
"""

from random import Random
from threading import Lock
from typing import Protocol


class BackoffSettings(Protocol):
    """The settings of a wait that grows from one try to the next."""

    @property
    def initial_backoff_ms(self) -> int: ...
    @property
    def max_backoff_ms(self) -> int: ...
    @property
    def backoff_multiplier(self) -> float: ...
    @property
    def jitter(self) -> bool: ...


def wait_ms(
    settings: BackoffSettings, tried: int, spread: tuple[float, float], random: Random
) -> float:
    """Milliseconds to wait after so many tries; with jitter a share of that within `spread`.

    Whoever failed together must not come back together.
    """
    wait = settings.initial_backoff_ms * settings.backoff_multiplier ** (tried - 1)
    wait = min(wait, settings.max_backoff_ms)
    return wait * random.uniform(*spread) if settings.jitter else wait


class RetryAllowance:
    """How often all of a run may still try again; without a number, as often as it likes."""

    def __init__(self, most: int | None) -> None:
        self._left = most
        self._lock = Lock()

    def take(self) -> bool:
        """Whether there may be one more, which is then used up."""
        with self._lock:
            if self._left is None:
                return True
            self._left -= 1
            return self._left >= 0
