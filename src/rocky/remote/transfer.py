"""Transfers: calls to a backend, tried again within one budget of time that they all share.

Time is counted from the first try: waiting, trying again and merging with somebody else's copy all
come out of `transfer_timeout_seconds`. Only failures that may pass are tried again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from threading import Lock
from typing import Final, TypeVar

from rocky.errors import CircuitOpen, RetryBudgetExhausted, StateSyncFailed, TransferTimedOut
from rocky.project.adapter import Retry
from rocky.remote.breaker import Breaker
from rocky.remote.copies import Overtaken, RemoteFailure
from rocky.remote.deadlines import DeadlinePassed, call_within
from rocky.remote.events import Outcome

T = TypeVar("T")

_LEAST_ATTEMPT_SECONDS: Final = 30.0
_JITTER: Final = 0.25
"""The share of a wait within which it varies: from an eighth less to an eighth more."""

_KINDS: Final[dict[Outcome, type[StateSyncFailed]]] = {
    Outcome.TIMEOUT: TransferTimedOut,
    Outcome.TRANSIENT_EXHAUSTED: RetryBudgetExhausted,
    Outcome.BUDGET_EXHAUSTED: RetryBudgetExhausted,
    Outcome.CIRCUIT_OPEN: CircuitOpen,
}


class TransferFailed(Exception):
    """A transfer did not come to an end. `outcome` says how it failed."""

    def __init__(self, outcome: Outcome, why: str) -> None:
        super().__init__(outcome, why)
        self.outcome = outcome
        self.why = why

    def __str__(self) -> str:
        return self.why

    def as_error(self, doing: str) -> StateSyncFailed:
        """The condition that a caller of ours is told."""
        kind = _KINDS.get(self.outcome, StateSyncFailed)
        return kind(f"could not {doing}: {self.why}")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, for tests to replace."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def attempt_seconds(retry: Retry, budget: float) -> float:
    """How long one try may take, so that one that hangs leaves time for others."""
    return max(budget / (retry.max_retries + 1), min(budget, _LEAST_ATTEMPT_SECONDS))


class Transfers:
    """What all transfers of a run share: the breaker, and how often may be tried again."""

    def __init__(
        self, retry: Retry, timeout_seconds: float, clock: Clock, random: Random | None = None
    ) -> None:
        self.retry = retry
        self.timeout_seconds = timeout_seconds
        self.clock = clock
        self.breaker = Breaker(
            retry.circuit_breaker_threshold,
            retry.circuit_breaker_recovery_timeout_secs,
            clock.now,
        )
        self._random = random or Random()
        self._left = retry.max_retries_per_run
        self._lock = Lock()

    def begin(self, timeout_seconds: float | None = None) -> "Transfer":
        """A transfer whose time runs from now on."""
        budget = self.timeout_seconds if timeout_seconds is None else timeout_seconds
        return Transfer(self, self.clock.now(), budget)

    def take_retry(self) -> bool:
        """Whether the run may try again once more."""
        with self._lock:
            if self._left is None:
                return True
            if self._left <= 0:
                return False
            self._left -= 1
            return True

    def wait_after(self, tried: int) -> float:
        """Seconds to wait after so many tries."""
        retry = self.retry
        wait = retry.initial_backoff_ms * retry.backoff_multiplier ** (tried - 1)
        capped = min(wait, retry.max_backoff_ms) / 1000
        if not retry.jitter:
            return capped
        spread = capped * _JITTER
        return capped - spread / 2 + self._random.uniform(0, spread)


@dataclass(slots=True)
class Transfer:
    """One transfer: any number of calls, one after the other, within one budget."""

    shared: Transfers
    started: float
    budget: float
    attempts: int = 0
    _retries: int = field(default=0, init=False)

    @property
    def elapsed_ms(self) -> int:
        return round((self.shared.clock.now() - self.started) * 1000)

    @property
    def remaining(self) -> float:
        return self.budget - (self.shared.clock.now() - self.started)

    def call(self, call: Callable[[], T]) -> T:
        """What a call returns in the end. Raises TransferFailed, Overtaken."""
        while True:
            if self.remaining <= 0:
                raise self._timed_out()
            if not self.shared.breaker.let_through():
                raise TransferFailed(
                    Outcome.CIRCUIT_OPEN,
                    "it failed so often in a row that it is not tried any more"
                    " (`circuit_breaker_threshold`)",
                )
            self.attempts += 1
            try:
                answer = self._attempt(call)
            except RemoteFailure as failure:
                self._judge(failure)
            except Overtaken:
                # Somebody was faster; the server has answered.
                self.shared.breaker.succeeded()
                raise
            else:
                self.shared.breaker.succeeded()
                return answer

    def _attempt(self, call: Callable[[], T]) -> T:
        limit = min(self.remaining, attempt_seconds(self.shared.retry, self.budget))
        try:
            return call_within(limit, call)
        except DeadlinePassed as passed:
            raise RemoteFailure(f"the server gave {passed}", is_transient=True) from passed

    def _judge(self, failure: RemoteFailure) -> None:
        """Wait before the next try, or give up."""
        if not failure.is_transient:
            # It has answered, and will say the same again.
            self.shared.breaker.succeeded()
            raise TransferFailed(Outcome.ERROR, str(failure)) from failure
        self.shared.breaker.failed()
        if self.remaining <= 0:
            raise self._timed_out(failure) from failure
        if self._retries >= self.shared.retry.max_retries:
            why = f"{failure} (tried {self.attempts} times)"
            raise TransferFailed(Outcome.TRANSIENT_EXHAUSTED, why) from failure
        if not self.shared.take_retry():
            why = f"{failure} (`max_retries_per_run` is used up)"
            raise TransferFailed(Outcome.BUDGET_EXHAUSTED, why) from failure
        self._retries += 1
        wait = min(self.shared.wait_after(self._retries), self.remaining)
        self.shared.clock.sleep(max(wait, 0))
        if self.remaining <= 0:
            raise self._timed_out(failure) from failure

    def _timed_out(self, failure: RemoteFailure | None = None) -> TransferFailed:
        said = f" (last: {failure})" if failure is not None else ""
        return TransferFailed(
            Outcome.TIMEOUT, f"it took longer than {self.budget:g} s in all{said}"
        )
