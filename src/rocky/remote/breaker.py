"""A circuit breaker of three states: closed, open, half open.

Failures in a row open it. Open, nothing is tried; after a while one trial is let through, and only
its success closes the breaker: an answer to a call from before it opened proves nothing.
"""

from collections.abc import Callable
from threading import Lock
from typing import Literal

State = Literal["closed", "open", "half_open"]


class Breaker:
    """A `threshold` of 0 switches it off; without `recovery_seconds` it stays open."""

    def __init__(
        self, threshold: int, recovery_seconds: float | None, clock: Callable[[], float]
    ) -> None:
        self._threshold = threshold
        self._recovery = recovery_seconds
        self._clock = clock
        self._failures = 0
        self._opened_at: float | None = None
        self._on_trial = False
        self._lock = Lock()

    @property
    def state(self) -> State:
        with self._lock:
            return self._state()

    def let_through(self) -> bool:
        """Whether a call may be made. Half open, one is, until it is known how it went."""
        with self._lock:
            state = self._state()
            if state == "half_open" and not self._on_trial:
                self._on_trial = True
                return True
            return state == "closed"

    def succeeded(self) -> None:
        with self._lock:
            if self._on_trial:
                self._on_trial, self._opened_at = False, None
            if self._opened_at is None:
                self._failures = 0

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            is_due = bool(self._threshold) and self._failures >= self._threshold
            if self._on_trial or (self._opened_at is None and is_due):
                self._on_trial, self._opened_at = False, self._clock()

    def _state(self) -> State:
        if self._opened_at is None:
            return "closed"
        waited = self._clock() - self._opened_at
        is_over = self._recovery is not None and waited >= self._recovery
        return "half_open" if is_over else "open"
