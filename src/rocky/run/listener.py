"""Listeners: what a run tells while it goes on, for a live display or a log.

Calls come from several threads but never two at once; a listener must be quick, models wait for it.
"""

from collections.abc import Callable, Sequence
from threading import RLock
from typing import Protocol

from rocky.ledger.records import AttemptRecord
from rocky.plan.steps import Step
from rocky.run.outcomes import StepOutcome


class Listener(Protocol):
    """Whoever wants to know."""

    def queued(self, run_id: str, steps: Sequence[Step]) -> None:
        """The run begins; all its steps, in order."""

    def started(self, step: Step) -> None: ...

    def progress(self, step: Step, done: int, known: int) -> None:
        """So many of the Spark tasks known by now are done."""

    def retried(self, step: Step, attempt: AttemptRecord) -> None:
        """An attempt failed; another follows after its `backoff_ms`."""

    def finished(self, outcome: StepOutcome) -> None:
        """A step ended, one way or another, and is recorded."""


class Silence:
    """Nobody listens."""

    def queued(self, run_id: str, steps: Sequence[Step]) -> None: ...

    def started(self, step: Step) -> None: ...

    def progress(self, step: Step, done: int, known: int) -> None: ...

    def retried(self, step: Step, attempt: AttemptRecord) -> None: ...

    def finished(self, outcome: StepOutcome) -> None: ...


class OneAtATime:
    """A listener whose calls never overlap, whoever makes them."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = RLock()

    def tell(self, say: Callable[[Listener], None]) -> None:
        with self._lock:
            say(self._listener)
