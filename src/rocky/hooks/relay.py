"""The relay: hears what happens in a run, and has hooks told of it while the run goes on.

The start is told before anything is built, because a required hook may refuse it. Failed models
are told in the background, so no model waits for a service; the end waits for all of them.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from rocky.errors import RunRefused
from rocky.hooks.delivery import Surroundings, deliver
from rocky.hooks.events import Event, RunFacts, end_events, failed_model_event, start_event
from rocky.ledger.run_records import ModelStatus
from rocky.plan.steps import Step
from rocky.project.configuration.hooks import Hook, Hooks
from rocky.run.outcomes import HookDelivery, Listener, RunResult, StepOutcome

_AT_ONCE: Final = 4


class HookRelay:
    """A listener that passes everything on to another, and tells the hooks."""

    def __init__(
        self, listener: Listener, hooks: Hooks, facts: RunFacts, place: Surroundings
    ) -> None:
        self._listener = listener
        self._hooks = hooks
        self._facts = facts
        self._place = place
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rocky-hook")
        self._sent: list[Future[HookDelivery]] = []
        self._run_id = ""

    def __getattr__(self, name: str) -> Any:
        """What is not heard here: the other may hear of more than it must."""
        return getattr(self._listener, name)

    def queued(self, run_id: str, steps: Sequence[Step]) -> None:
        self._run_id = run_id
        self._listener.queued(run_id, steps)
        names = [step.name for step in steps if step.selected]
        self._tell(start_event(run_id, names, self._facts))
        for each in self._wait():
            if each.error is not None and each.required:
                raise RunRefused(
                    f"the required hook `{each.event}` ({each.target}) failed: {each.error};"
                    " nothing was built"
                )

    def started(self, step: Step) -> None:
        self._listener.started(step)

    def finished(self, outcome: StepOutcome) -> None:
        self._listener.finished(outcome)
        if outcome.execution.status is ModelStatus.FAILED:
            self._tell(failed_model_event(self._run_id, outcome, self._facts))

    def conclude(self, result: RunResult) -> tuple[HookDelivery, ...]:
        """Tell of the end; what became of all that was told."""
        for event in end_events(result, self._facts):
            self._tell(event)
        found = tuple(self._wait())
        self._pool.shutdown()
        return found

    def give_up(self, error: str) -> tuple[HookDelivery, ...]:
        """Tell of a run that an error ended; what became of all that was told."""
        title = f"run of {self._facts.project} failed: {error}"
        run_id = self._run_id or None
        details = {"error": error}
        self._tell(Event("on_run_failure", title, self._facts, run_id, "Failure", details))
        found = tuple(self._wait())
        self._pool.shutdown()
        return found

    def _tell(self, event: Event) -> None:
        hooks: Sequence[Hook] = getattr(self._hooks, event.name)
        self._sent += [self._pool.submit(deliver, hook, event, self._place) for hook in hooks]

    def _wait(self) -> list[HookDelivery]:
        return [each.result() for each in self._sent]
