"""Retries: trying again what may pass, and only that.

A failure's class decides, never its text: transient ones are tried again after a wait, a change
that met another writer is computed again, and what the data or the query did wrong never is. Every
strategy is safe to repeat, appends too: their transaction is equal in every attempt.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from threading import Event, Lock
from time import monotonic
from typing import Final, Generic, TypeVar

from rocky.ledger.records import AttemptRecord
from rocky.project.blocks import Resilience
from rocky.run.failures import CAUGHT, classify_step_failure
from rocky.run.step_failures import StepFailure
from rocky.spark.failure_kinds import Failure
from rocky.spark.failures import classify_failure

T = TypeVar("T")

_ERROR_LENGTH: Final = 500
_LEAST_WAIT: Final = 0.5
"""With jitter a wait is this share of its length or more: models that failed together must not
come back together."""


class Patience:
    """How often a run may still try again, shared by all its models."""

    def __init__(self, settings: Resilience, random: Random | None = None) -> None:
        self._settings = settings
        self._left = settings.max_retries_per_run
        self._failing = 0
        self._random = random or Random()
        self._lock = Lock()

    def succeeded(self) -> None:
        with self._lock:
            self._failing = 0

    def next_wait(self, failure: StepFailure, tried: int) -> int | None:
        """How many milliseconds to wait before the next try; None when there is to be none.

        Many transient failures in a row mean that the service is down, not that a call was
        unlucky: then nothing is tried again until something succeeds.
        """
        settings = self._settings
        with self._lock:
            self._failing += 1
            breaker = settings.circuit_breaker_threshold
            if (
                not settings.enabled
                or not failure.retryable
                or tried > settings.transient_max_retries
                or self._left <= 0
                or (breaker and self._failing > breaker * (settings.transient_max_retries + 1))
            ):
                return None
            self._left -= 1
            wait = settings.initial_backoff_ms * settings.backoff_multiplier ** (tried - 1)
            wait = min(wait, settings.max_backoff_ms)
            if settings.jitter:
                wait *= self._random.uniform(_LEAST_WAIT, 1)
            return int(wait)


@dataclass(frozen=True, slots=True)
class Tried(Generic[T]):
    """What came of all attempts: a result or the last failure. `attempts` if there were several."""

    result: T | None
    failure: StepFailure | None
    attempts: tuple[AttemptRecord, ...] = ()


def try_build(
    build: Callable[[], T],
    patience: Patience,
    stop: Event,
    retried: Callable[[AttemptRecord], None],
    explain: Callable[[BaseException], Failure] = classify_failure,
) -> Tried[T]:
    """Build until it succeeds, fails for good, or the run is to stop.

    What is neither ours nor Spark's to raise escapes: it is a fault, not a failure.
    """
    attempts: list[AttemptRecord] = []
    while True:
        began = monotonic()
        try:
            result = build()
        except CAUGHT as error:
            failure = classify_step_failure(error, explain)
        else:
            patience.succeeded()
            if attempts:
                attempts.append(AttemptRecord(len(attempts) + 1, "success", _since(began)))
            return Tried(result, None, tuple(attempts))
        wait = None if stop.is_set() else patience.next_wait(failure, len(attempts) + 1)
        attempts.append(_failed(len(attempts) + 1, failure, _since(began), wait))
        if wait is None:
            return Tried(None, failure, tuple(attempts) if len(attempts) > 1 else ())
        retried(attempts[-1])
        stop.wait(wait / 1000)


def _failed(number: int, failure: StepFailure, duration_ms: int, wait: int | None) -> AttemptRecord:
    return AttemptRecord(
        number,
        "failed",
        duration_ms,
        "transient" if failure.retryable else "permanent",
        failure.kind if failure.retryable else None,
        failure.message[:_ERROR_LENGTH],
        wait,
    )


def _since(began: float) -> int:
    return round((monotonic() - began) * 1000)
