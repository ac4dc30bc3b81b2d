"""Steps as they run: scheduled, tried again if that may help, measured and recorded.

A step's outcome is in the ledger before anybody is told and before a reader of it starts: what a
killed process leaves behind is true. A failure's class decides about a retry, never its text.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from threading import Event, Lock
from time import monotonic
from typing import Any, Final, Generic, TypeVar

from rocky.analysis.disclosure import Disclosure
from rocky.ledger.run_records import AttemptRecord, ModelStatus
from rocky.plan.budget import rate_of
from rocky.plan.steps import RunPlan, Step
from rocky.project.configuration.blocks import Resilience
from rocky.retry import RetryAllowance, wait_ms
from rocky.run.checks.outcomes import AssertionOutcome
from rocky.run.engine.diagnosis import Diagnostician
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import Engine, EngineEnd, StepFailure
from rocky.run.execute.builder import Builder
from rocky.run.execute.scheduler import Ending, Job, Throttle, Watcher, run_jobs
from rocky.run.execute.step_tests import RunTests
from rocky.run.materialize.build import Materialize
from rocky.run.prepare.resources import RunClock
from rocky.run.record.journal import Journal
from rocky.run.record.provenance import NOT_MEASURED, ResourcesUsed, StepResult, Timing
from rocky.run.record.recorder import Recorder
from rocky.spark.interface import Failure, Metrics
from rocky.spark.source_files import hide_location

T = TypeVar("T")

_ERROR_LENGTH: Final = 500
_JITTER: Final = (0.5, 1.0)
"""The shares of a wait between which it varies."""


class RetryBudget:
    """How often a run may still try again, shared by all its models."""

    def __init__(self, settings: Resilience, random: Random | None = None) -> None:
        self._settings = settings
        self._allowance = RetryAllowance(settings.max_retries_per_run)
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
                or (breaker and self._failing > breaker * (settings.transient_max_retries + 1))
                or not self._allowance.take()
            ):
                return None
            return int(wait_ms(settings, tried, _JITTER, self._random))


@dataclass(frozen=True, slots=True)
class RetryOutcome(Generic[T]):
    """What came of all attempts: a result or the last failure. `attempts` if there were several."""

    result: T | None
    failure: StepFailure | None
    attempts: tuple[AttemptRecord, ...] = ()


def build_with_retries(
    build: Callable[[], T],
    patience: RetryBudget,
    stop: Event,
    retried: Callable[[AttemptRecord], None],
    classify: Callable[[BaseException], StepFailure] = classify_step_failure,
) -> RetryOutcome[T]:
    """Build until it succeeds, fails for good, or the run is to stop.

    What is neither ours nor Spark's to raise escapes: it is a fault, not a failure.
    """
    attempts: list[AttemptRecord] = []
    while True:
        began = monotonic()
        try:
            result = build()
        except STEP_ERRORS as error:
            failure = classify(error)
        else:
            patience.succeeded()
            if attempts:
                attempts.append(AttemptRecord(len(attempts) + 1, "success", _since(began)))
            return RetryOutcome(result, None, tuple(attempts))
        wait = None if stop.is_set() else patience.next_wait(failure, len(attempts) + 1)
        attempts.append(_failed(len(attempts) + 1, failure, _since(began), wait))
        if wait is None:
            return RetryOutcome(None, failure, tuple(attempts) if len(attempts) > 1 else ())
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


_LOOK_SECONDS: Final = 0.5
_LOOK_SHARE: Final = 20
"""Spark is asked for progress no more often than so, and for a twentieth of the time at most: while
it warms up, each question costs it a lot."""


_OVERLOADED: Final = frozenset({"transient", "out_of_memory"})
_OF_AN_END: Final = frozenset({"connection_lost", "out_of_memory"})
"""What a step fails with when Spark is gone; it may also live on."""


class StepExecution(Watcher):
    """The steps of one run as they run. Workers call `_work`, the scheduler the rest."""

    def __init__(  # noqa: PLR0913 - one for each part of a run
        self,
        plan: RunPlan,
        engine: Engine,
        builder: Builder,
        recorder: Recorder,
        journal: Journal,
        times: RunClock,
        tests: RunTests | None = None,
        disclosure: Disclosure | None = None,
    ) -> None:
        self._tests = tests
        self._settled: frozenset[str] = frozenset()
        self._steps = {step.id: step for step in plan.steps}
        self._places = {step.id: place for place, step in enumerate(plan.steps)}
        self._engine = engine
        self._builder = builder
        self._recorder = recorder
        self._journal = journal
        self._times = times
        self._next_look = monotonic() + _LOOK_SECONDS
        self._patience = RetryBudget(plan.project.config.resilience)
        self._project = plan.project
        self._diagnostician = Diagnostician(plan.compilation, disclosure)
        self._rate = rate_of(plan.project.config.cost)
        self._stop = Event()
        self._materialize: Materialize | None = None
        self._building: dict[str, None] = {}
        self.engine_end: EngineEnd | None = None

    def run(
        self,
        steps: Sequence[Step],
        throttle: Throttle,
        stop: Event,
        materialize: Materialize,
        settled: frozenset[str] = frozenset(),
    ) -> None:
        """Take every one of these steps that can be taken; all others have ended.

        Those that are `settled` have ended too, and are only tested.
        """
        self._stop, self._materialize, self._settled = stop, materialize, settled
        jobs = [Job(step.id, step.after) for step in steps]
        try:
            ended = run_jobs(
                jobs,
                self._work,
                parallel=throttle.allowed,
                stop=stop,
                watcher=self,
                throttle=throttle,
            )
        finally:
            # A Spark that is gone took its views along.
            with suppress(*STEP_ERRORS):
                self._builder.close()
        for each, how in ended.items():
            if how.ending is Ending.LEFT and each not in settled:
                step, now = self._steps[each], self._times.now()
                gave_up = None if stop.is_set() else throttle.gave_up
                self._journal.record(self._recorder.left(step, now, gave_up))

    def withheld(self, job: str, blocked_by: tuple[str, ...]) -> None:
        if job in self._settled:
            return
        step, now = self._steps[job], self._times.now()
        causes = [self._journal.outcome_of(each) for each in blocked_by]
        if all(each.execution.status is ModelStatus.INTERRUPTED for each in causes):
            # What it waits for did not fail: nobody let it end.
            self._journal.record(self._recorder.left(step, now))
            return
        built = all(each.succeeded for each in causes)
        steps = [each.step for each in causes]
        stale = [one for each in steps for one in self._stale_sources(each)]
        if stale and all(each.succeeded or each.is_stale for each in causes):
            self._journal.record(self._recorder.withheld_by_sources(step, stale, now))
            return
        self._journal.record(self._recorder.withheld(step, steps, now, by_tests=built))

    def pulse(self, running: Sequence[str]) -> None:
        began = monotonic()
        if not self._journal.shows_progress or began < self._next_look:
            return
        for job in running:
            self._tell_progress(job)
        now = monotonic()
        self._next_look = now + max(_LOOK_SECONDS, _LOOK_SHARE * (now - began))

    def _tell_progress(self, job: str) -> None:
        try:
            done, known = self._engine.jobs.progress(self._tag(job))
        except STEP_ERRORS:
            # Only a display misses this; the step itself will say what is wrong.
            return
        if known:
            self._journal.tell(lambda each: each.progress(self._steps[job], done, known))

    def cancel(self, job: str) -> None:
        try:
            self._engine.jobs.cancel(self._tag(job))
            if self._tests is not None:
                self._engine.jobs.cancel(self._tag(job, testing=True))
        except STEP_ERRORS:
            # A Spark that is gone has nothing left to cancel, and the step notices by itself.
            return

    def hopeless(self, job: str) -> str | None:  # noqa: ARG002 - it concerns all of them
        """A Spark that is gone builds nothing any more."""
        return None if self.engine_end is None else "Spark had ended"

    def overloaded(self, job: str) -> bool:
        execution = self._journal.outcome_of(job).execution
        return execution.failure_kind in _OVERLOADED

    def _work(self, job: str) -> bool:
        step, materialize = self._steps[job], self._materialize
        assert materialize is not None
        stale = self._stale_sources(step)
        if job in self._settled:
            tested = self._fail_units(step) is None and self._passes_data(step)
            return tested and not stale
        if stale:
            now = self._times.now()
            self._journal.record(self._recorder.withheld_by_sources(step, stale, now))
            return False
        self._journal.tell(lambda each: each.started(step))
        started_at, began = self._times.now(), monotonic()
        self._building[step.name] = None
        tried = self._build(step, materialize)
        if tried.failure is not None:
            self._note_failure(step, tried.failure)
        self._building.pop(step.name, None)
        timing = Timing(started_at, round((monotonic() - began) * 1000))
        used = ResourcesUsed(tried.attempts, self._measure(job), self._rate)
        if tried.failure is not None:
            record = self._recorder.failed(
                step,
                tried.failure,
                timing,
                used,
                interrupted=self._stop.is_set(),
                **self._circumstances(step),
            )
        else:
            assert tried.result is not None
            record = self._recorder.built(step, tried.result, timing, used)
        self._journal.record(record)
        return record.outcome.succeeded and self._passes_data(step)

    def _build(self, step: Step, materialize: Materialize) -> RetryOutcome[StepResult]:
        why = self._fail_units(step)
        if why is not None:
            return RetryOutcome(None, StepFailure("test_failed", why))
        classify = partial(self._failure_of, step)

        def build() -> StepResult:
            with self._engine.jobs.tagged(self._tag(step.id)):
                return self._builder.build(step, materialize, classify)

        return build_with_retries(
            build,
            self._patience,
            self._stop,
            lambda attempt: self._journal.tell(lambda each: each.retried(step, attempt)),
            classify,
        )

    def _stale_sources(self, step: Step) -> tuple[AssertionOutcome, ...]:
        if self._tests is None:
            return ()
        with self._engine.jobs.tagged(self._tag(step.id, testing=True)):
            return self._tests.stale_sources(step)

    def _fail_units(self, step: Step) -> str | None:
        if self._tests is None:
            return None
        with self._engine.jobs.tagged(self._tag(step.id, testing=True)):
            return self._tests.fail_units(step)

    def _passes_data(self, step: Step) -> bool:
        if self._tests is None:
            return True
        with self._engine.jobs.tagged(self._tag(step.id, testing=True)):
            return self._tests.passes_data(step)

    def _note_failure(self, step: Step, failure: StepFailure) -> None:
        """Write down what is known of a failure, and whether Spark itself is gone."""
        title = f"`{step.name}` failed: {failure.message}"
        if failure.hides is None:
            self._journal.log.add(title, failure.trace)
        else:
            self._journal.log.hide(title, failure.hides)
        end = self._engine.end if failure.kind in _OF_AN_END else None
        if end is not None and self.engine_end is None:
            told = self._diagnostician.without_output(end)
            self.engine_end = replace(told, building=tuple(self._building))

    def _failure_of(self, step: Step, error: BaseException) -> StepFailure:
        """What an error that ended a step, or a part of it, means, and where it is."""
        failure = classify_step_failure(error, self._explain)
        if step.kind == "seed":
            return self._diagnostician.in_seed(self._project.seeds[step.key], failure)
        model = self._project.models[step.key]
        return self._diagnostician.in_model(
            model, error, failure, lambda: self._builder.origins_of(step)
        )

    def _explain(self, error: BaseException) -> Failure:
        """What an error of Spark means; it may name files whose place is a secret."""
        failure = self._engine.explain(error)
        message = failure.message
        for source in self._project.sources.values():
            message = hide_location(source, message)
        return replace(failure, message=message)

    def _circumstances(self, step: Step) -> dict[str, Any]:
        """What is known of a step that failed; nothing where that is why it failed."""
        try:
            return {"inputs": self._builder.inputs_of(step), "table": self._builder.table_of(step)}
        except STEP_ERRORS:
            return {}

    def _measure(self, job: str) -> Metrics:
        try:
            return self._engine.jobs.metrics(self._tag(job))
        except STEP_ERRORS:
            # A Spark that is gone cannot say what it used; that is not why a step fails.
            return NOT_MEASURED

    def _tag(self, job: str, *, testing: bool = False) -> str:
        # A tag must not hold a comma, and a model's name may hold anything. What its tests use is
        # not what building it took.
        return f"{self._recorder.run_id}-{self._places[job]}{'-tests' if testing else ''}"
