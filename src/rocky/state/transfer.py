"""Transfers: calls to a backend, tried again within one budget of time that they all share.

Time is counted from the first try: waiting, trying again and merging with somebody else's copy all
come out of `transfer_timeout_seconds`. Only failures that may pass are tried again.

Failures in a row open a circuit breaker. Open, nothing is tried; after a while one trial is let
through, and only its success closes the breaker: an answer to a call from before it opened proves
nothing. A client's own timeouts are between two bytes, so a call runs in a thread of its own and
is left behind when its time is up. It may still reach the server later, which is why every write
names what it replaces. A `Reporter` tells of each transfer by one event.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from random import Random
from threading import Lock, Thread
from typing import Final, Literal, TypeVar

from rocky.errors import CircuitOpen, RetryBudgetExhausted, StateSyncFailed, TransferTimedOut
from rocky.project.configuration.blocks import Retry
from rocky.retry import RetryAllowance, wait_ms
from rocky.state.backend import GenerationChanged, RemoteFailure
from rocky.state.events import Outcome, SyncEvent, SyncListener, announce

Answer = TypeVar("Answer")


class DeadlinePassed(Exception):
    """A call took longer than it may; its result is not known."""


def call_within(seconds: float, call: Callable[[], Answer]) -> Answer:
    """What a call returns or raises. Raises DeadlinePassed."""
    answers: SimpleQueue[tuple[Answer | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, all of them
            answers.put((None, error))

    # A daemon: a call that hangs must not keep the process from ending.
    Thread(target=work, name="rocky-transfer", daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(seconds, 0))
    except Empty:
        raise DeadlinePassed(f"no answer within {seconds:.1f} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value] # None only where T allows it


BreakerState = Literal["closed", "open", "half_open"]


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

    def _state(self) -> BreakerState:
        if self._opened_at is None:
            return "closed"
        waited = self._clock() - self._opened_at
        is_over = self._recovery is not None and waited >= self._recovery
        return "half_open" if is_over else "open"


T = TypeVar("T")

_LEAST_ATTEMPT_SECONDS: Final = 30.0
_JITTER: Final = (0.875, 1.125)
"""The shares of a wait between which it varies."""

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
        self.allowance = RetryAllowance(retry.max_retries_per_run)

    def begin(self, timeout_seconds: float | None = None) -> "Transfer":
        """A transfer whose time runs from now on."""
        budget = self.timeout_seconds if timeout_seconds is None else timeout_seconds
        return Transfer(self, self.clock.now(), budget)

    def wait_after(self, tried: int) -> float:
        """Seconds to wait after so many tries."""
        return wait_ms(self.retry, tried, _JITTER, self._random) / 1000


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
        """What a call returns in the end. Raises TransferFailed, GenerationChanged."""
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
            except GenerationChanged:
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
        if not self.shared.allowance.take():
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


class Reporter:
    """Speaks of one place. What a policy has turned into a warning is said once."""

    def __init__(self, backend: str, listener: SyncListener | None) -> None:
        self._backend = backend
        self._listener = listener
        self._warnings: list[str] = []
        self.place = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)

    def warn(self, warning: str) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)

    def ended(
        self,
        operation: str,
        outcome: Outcome,
        transfer: Transfer,
        *,
        cause: Outcome | None = None,
        detail: str | None = None,
        size: int | None = None,
        merges: int = 0,
    ) -> None:
        """A transfer has ended. `cause` is the outcome that a policy turned into another."""
        event = SyncEvent(
            operation,
            outcome,
            self._backend,
            self.place,
            transfer.attempts,
            transfer.elapsed_ms,
            size,
            merges or None,
            cause,
            detail,
        )
        announce(event, self._listener)

    def noticed(self, operation: str, outcome: Outcome, detail: str) -> None:
        """Something beside a transfer went wrong, and the transfer continues."""
        event = SyncEvent(operation, outcome, self._backend, self.place, detail=detail)
        announce(event, self._listener)
