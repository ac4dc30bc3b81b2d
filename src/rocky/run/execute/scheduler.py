"""The scheduler: jobs in threads, each as soon as what it comes after is done.

It knows nothing of tables. A failed job withholds only what comes after it. Every ten successes
allow more jobs at once, a service that is overloaded halves what is allowed. An exception that
escapes a job is a fault of ours: what runs is cancelled and waited for, then the exception is
raised.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum
from heapq import heapify, heappop, heappush
from threading import Event
from time import monotonic
from typing import Final

from rocky.plan.request import Limits

_GROWS_AFTER: Final = 10
_JUDGED_AFTER: Final = 4
"""The share of failures says nothing before this many jobs have ended."""


class Throttle:
    """Counts how jobs end. Used by the scheduling thread alone.

    `failed` is how many had failed before the first could start.
    """

    def __init__(self, limits: Limits, failed: int = 0) -> None:
        self._limits = limits
        self._most = limits.most if limits.parallel == "adaptive" else limits.parallel
        self.allowed = max(1, self._most)
        self.slowdowns = 0
        self._in_a_row = 0
        self._done = 0
        self._failed = failed
        self._end: str | None = None

    @property
    def is_adaptive(self) -> bool:
        return self._limits.parallel == "adaptive"

    @property
    def gave_up(self) -> str | None:
        """Why no further job is to start, if so."""
        if self._end is not None:
            return self._end
        if self._failed and self._limits.fail_fast:
            return "another table failed, and `fail_fast` is set"
        ended = self._done + self._failed
        share = 100 * self._failed / ended if ended else 0.0
        if self._limits.abort_pct and ended >= _JUDGED_AFTER and share >= self._limits.abort_pct:
            return (
                f"{self._failed} of {ended} tables had failed, and `error_rate_abort_pct` is"
                f" {self._limits.abort_pct:g}"
            )
        return None

    def give_up(self, why: str) -> None:
        """No further job is to start."""
        self._end = self._end or why

    def ended(self, *, succeeded: bool, overloaded: bool = False) -> None:
        """A job ended; `overloaded` when it failed because too much was asked at once."""
        self._done += succeeded
        self._failed += not succeeded
        if not self.is_adaptive:
            return
        if overloaded:
            self.slowdowns += 1
            self.allowed = max(1, self.allowed // 2)
            self._in_a_row = 0
        elif succeeded:
            self._in_a_row += 1
            if self._in_a_row % _GROWS_AFTER == 0:
                step = 2 if self.allowed < self._most / 2 else 1
                self.allowed = min(self._most, self.allowed + step)


_PULSE_SECONDS: Final = 0.1
"""How soon a request to stop is noticed, and how often running jobs are looked at."""
_CANCEL_AGAIN_SECONDS: Final = 1.0
"""A cancel that came between two queries of a job cancelled nothing: it is repeated."""


class Ending(StrEnum):
    """How a job ended. A withheld job was never started, nor was one that was left."""

    DONE = "done"
    FAILED = "failed"
    WITHHELD = "withheld"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do. `after` may name jobs that are not in the list: they count as done."""

    id: str
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job ended; `blocked_by` are the failed jobs for which it was withheld."""

    ending: Ending
    blocked_by: tuple[str, ...] = ()


class Watcher:
    """What the scheduler tells while it runs. All calls come from the scheduling thread."""

    def withheld(self, job: str, blocked_by: tuple[str, ...]) -> None: ...

    def pulse(self, running: Sequence[str]) -> None: ...

    def cancel(self, job: str) -> None:
        """Make a running job end early; it is waited for. May be called again for one job."""

    def hopeless(self, job: str) -> str | None:  # noqa: ARG002 - nothing is known here
        """Why no other job can succeed after one that failed; None when others may."""
        return None

    def overloaded(self, job: str) -> bool:  # noqa: ARG002 - nothing is known here
        """Whether a job that failed did so because too much was asked at once."""
        return False


def run_jobs(
    jobs: Sequence[Job],
    work: Callable[[str], bool],
    *,
    parallel: int,
    stop: Event,
    watcher: Watcher,
    throttle: Throttle | None = None,
) -> dict[str, Ended]:
    """Run all jobs, at most `parallel` at once; `work` says whether a job succeeded.

    Once `stop` is set no job is started, running ones are cancelled, and those left are `LEFT`. A
    `throttle` decides in the place of `parallel`; once it has given up, what runs may end.
    """
    throttle = throttle or Throttle(Limits(parallel))
    state = _State(jobs, work, watcher, throttle)
    with ThreadPoolExecutor(throttle.allowed, thread_name_prefix="rocky") as pool:
        try:
            while True:
                if not stop.is_set() and throttle.gave_up is None:
                    state.start_ready(pool, throttle.allowed)
                if not state.running:
                    break
                wait(state.running, _PULSE_SECONDS, FIRST_COMPLETED)
                state.settle()
                if stop.is_set():
                    state.cancel_running()
                watcher.pulse(list(state.running.values()))
        finally:
            # Reached early only by an exception; the pool waits for its threads.
            state.cancel_running()
    return state.endings()


class _State:
    """What is waiting, ready, running and ended. Ready jobs start in the order of the list."""

    def __init__(
        self,
        jobs: Sequence[Job],
        work: Callable[[str], bool],
        watcher: Watcher,
        throttle: Throttle,
    ) -> None:
        self._place = {job.id: place for place, job in enumerate(jobs)}
        self._needs = {job.id: {each for each in job.after if each in self._place} for job in jobs}
        self._readers: dict[str, list[str]] = {}
        for job, needs in self._needs.items():
            for each in needs:
                self._readers.setdefault(each, []).append(job)
        self._ready = [(self._place[job], job) for job, needs in self._needs.items() if not needs]
        heapify(self._ready)
        self._ended: dict[str, Ended] = {}
        self._cancelled: dict[str, float] = {}
        self._work = work
        self._watcher = watcher
        self._throttle = throttle
        self.running: dict[Future[bool], str] = {}

    def start_ready(self, pool: ThreadPoolExecutor, parallel: int) -> None:
        while self._ready and len(self.running) < parallel:
            _, job = heappop(self._ready)
            self.running[pool.submit(self._work, job)] = job

    def settle(self) -> None:
        ended = [
            (self._place[job], future) for future, job in self.running.items() if future.done()
        ]
        for _, future in sorted(ended, key=lambda each: each[0]):
            job = self.running.pop(future)
            succeeded = future.result()
            overloaded = not succeeded and self._watcher.overloaded(job)
            self._throttle.ended(succeeded=succeeded, overloaded=overloaded)
            if succeeded:
                self._ended[job] = Ended(Ending.DONE)
                self._release(job)
            else:
                self._ended[job] = Ended(Ending.FAILED)
                self._withhold(job)
                why = self._watcher.hopeless(job)
                if why is not None:
                    self._throttle.give_up(why)

    def _release(self, job: str) -> None:
        for reader in self._readers.get(job, ()):
            self._needs[reader].discard(job)
            if not self._needs[reader] and reader not in self._ended:
                heappush(self._ready, (self._place[reader], reader))

    def _withhold(self, failed: str) -> None:
        """End everything that comes after a failed job and can no longer start."""
        below, waiting = set[str](), [failed]
        while waiting:
            for reader in self._readers.get(waiting.pop(), ()):
                if reader not in below:
                    below.add(reader)
                    waiting.append(reader)
        for job in sorted(below, key=self._place.__getitem__):
            before = self._ended.get(job)
            blocked_by = (*(before.blocked_by if before else ()), failed)
            self._ended[job] = Ended(Ending.WITHHELD, blocked_by)
            if before is None:
                self._watcher.withheld(job, blocked_by)

    def cancel_running(self) -> None:
        now = monotonic()
        for job in self.running.values():
            if now - self._cancelled.get(job, -_CANCEL_AGAIN_SECONDS) >= _CANCEL_AGAIN_SECONDS:
                self._cancelled[job] = now
                self._watcher.cancel(job)

    def endings(self) -> dict[str, Ended]:
        return {job: self._ended.get(job, Ended(Ending.LEFT)) for job in self._place}
