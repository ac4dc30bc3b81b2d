"""Stepping: the steps of a run scheduled, tried, measured and recorded.

A step's outcome is in the ledger before anybody is told and before a reader of it starts: what a
killed process leaves behind is true.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Event
from time import monotonic
from typing import Any, Final

from rocky.ledger.records import ModelStatus
from rocky.plan.steps import RunPlan, Step
from rocky.run.building import Builder, Materialize
from rocky.run.cost import rate_of
from rocky.run.engine import Engine
from rocky.run.failures import CAUGHT
from rocky.run.journal import Journal
from rocky.run.recording import Recorder
from rocky.run.reporting import RunTimes
from rocky.run.retries import Patience, try_build
from rocky.run.scheduler import Ending, Job, Watcher, run_jobs
from rocky.run.step_records import NOT_MEASURED, Timing, Used
from rocky.run.throttle import Throttle
from rocky.spark.failure_kinds import Failure
from rocky.spark.layout import Metrics
from rocky.spark.source_files import hide_place

_LOOK_SECONDS: Final = 0.5
"""How often Spark is asked for progress: each question costs it a little."""


_OVERLOADED: Final = frozenset({"transient", "out_of_memory"})


class Stepping(Watcher):
    """The steps of one run on their way. Workers call `_work`, the scheduler the rest."""

    def __init__(
        self,
        plan: RunPlan,
        engine: Engine,
        builder: Builder,
        recorder: Recorder,
        journal: Journal,
        times: RunTimes,
    ) -> None:
        self._steps = {step.id: step for step in plan.steps}
        self._places = {step.id: place for place, step in enumerate(plan.steps)}
        self._engine = engine
        self._builder = builder
        self._recorder = recorder
        self._journal = journal
        self._times = times
        self._looked = monotonic()
        self._patience = Patience(plan.project.config.resilience)
        self._sources = tuple(plan.project.sources.values())
        self._rate = rate_of(plan.project.config.cost)
        self._stop = Event()
        self._materialize: Materialize | None = None

    def run(
        self, steps: Sequence[Step], throttle: Throttle, stop: Event, materialize: Materialize
    ) -> None:
        """Take every one of these steps that can be taken; all others have ended."""
        self._stop, self._materialize = stop, materialize
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
            self._builder.close()
        for each, how in ended.items():
            if how.ending is Ending.LEFT:
                step, now = self._steps[each], self._times.now()
                gave_up = None if stop.is_set() else throttle.gave_up
                self._journal.record(self._recorder.left(step, now, gave_up))

    def withheld(self, job: str, blocked_by: tuple[str, ...]) -> None:
        step, now = self._steps[job], self._times.now()
        causes = [self._journal.outcome_of(each) for each in blocked_by]
        if all(each.execution.status is ModelStatus.INTERRUPTED for each in causes):
            # What it waits for did not fail: nobody let it end.
            self._journal.record(self._recorder.left(step, now))
            return
        self._journal.record(self._recorder.withheld(step, [each.step for each in causes], now))

    def pulse(self, running: Sequence[str]) -> None:
        if self._journal.is_silent or monotonic() - self._looked < _LOOK_SECONDS:
            return
        self._looked = monotonic()
        for job in running:
            self._tell_progress(job)

    def _tell_progress(self, job: str) -> None:
        try:
            done, known = self._engine.jobs.progress(self._tag(job))
        except CAUGHT:
            # Only a display misses this; the step itself will say what is wrong.
            return
        if known:
            self._journal.tell(lambda each: each.progress(self._steps[job], done, known))

    def cancel(self, job: str) -> None:
        try:
            self._engine.jobs.cancel(self._tag(job))
        except CAUGHT:
            # A Spark that is gone has nothing left to cancel, and the step notices by itself.
            return

    def overloaded(self, job: str) -> bool:
        execution = self._journal.outcome_of(job).execution
        return execution.failure_kind in _OVERLOADED

    def _work(self, job: str) -> bool:
        step, materialize = self._steps[job], self._materialize
        assert materialize is not None
        self._journal.tell(lambda each: each.started(step))
        started_at, began = self._times.now(), monotonic()
        with self._engine.jobs.tagged(self._tag(job)):
            tried = try_build(
                lambda: self._builder.build(step, materialize),
                self._patience,
                self._stop,
                lambda attempt: self._journal.tell(lambda each: each.retried(step, attempt)),
                self._explain,
            )
        timing = Timing(started_at, round((monotonic() - began) * 1000))
        used = Used(tried.attempts, self._measure(job), self._rate)
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
        return record.outcome.succeeded

    def _explain(self, error: BaseException) -> Failure:
        """What an error of Spark means; it may name files whose place is a secret."""
        failure = self._engine.explain(error)
        message = failure.message
        for source in self._sources:
            message = hide_place(source, message)
        return replace(failure, message=message)

    def _circumstances(self, step: Step) -> dict[str, Any]:
        """What is known of a step that failed; nothing where that is why it failed."""
        try:
            return {"inputs": self._builder.inputs_of(step), "table": self._builder.table_of(step)}
        except CAUGHT:
            return {}

    def _measure(self, job: str) -> Metrics:
        try:
            return self._engine.jobs.metrics(self._tag(job))
        except CAUGHT:
            # A Spark that is gone cannot say what it used; that is not why a step fails.
            return NOT_MEASURED

    def _tag(self, job: str) -> str:
        # A tag must not hold a comma, and a model's name may hold anything.
        return f"{self._recorder.run_id}-{self._places[job]}"
