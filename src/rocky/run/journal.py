"""The journal of a run: what ended is in the ledger before anybody is told."""

from collections.abc import Callable, Sequence
from threading import Lock

from rocky.ledger.model_records import ModelRecords
from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan
from rocky.run.listener import Listener, OneAtATime, Silence
from rocky.run.outcomes import StepOutcome
from rocky.run.recording import StepRecord


class Journal:
    """Writes down how steps ended and tells whoever listens. Threads may share it."""

    def __init__(self, plan: RunPlan, run_id: RunId, ledger: Ledger, listener: Listener) -> None:
        self._order = [step.id for step in plan.steps]
        self._run_id = run_id
        self._ledger = ledger
        self._listener = OneAtATime(listener)
        self._outcomes: dict[str, StepOutcome] = {}
        self._lock = Lock()
        self.is_silent = isinstance(listener, Silence)

    @property
    def outcomes(self) -> tuple[StepOutcome, ...]:
        """What ended, in the plan's order."""
        return tuple(self._outcomes[each] for each in self._order if each in self._outcomes)

    def outcome_of(self, step_id: str) -> StepOutcome:
        return self._outcomes[step_id]

    def tell(self, say: Callable[[Listener], None]) -> None:
        self._listener.tell(say)

    def record(self, record: StepRecord) -> None:
        """One step ended."""
        self.record_all([record])

    def record_all(self, records: Sequence[StepRecord]) -> None:
        """Several steps ended at once: one transaction."""
        kept = [each for each in records if _is_kept(each.outcome)]
        if kept:
            self._ledger.record_models(self._run_id, [_of_ledger(each) for each in kept])
        with self._lock:
            for each in kept:
                self._outcomes[each.outcome.step.id] = each.outcome
        for each in records:
            self._tell_finished(each.outcome)

    def _tell_finished(self, outcome: StepOutcome) -> None:
        self._listener.tell(lambda each: each.finished(outcome))


def _is_kept(outcome: StepOutcome) -> bool:
    """What was not asked for is worth a record only when it failed or left something."""
    return outcome.step.selected or not outcome.succeeded or bool(outcome.execution.files)


def _of_ledger(record: StepRecord) -> ModelRecords:
    return ModelRecords(
        record.outcome.execution,
        record.artifacts,
        record.partitions,
        record.watermark,
        record.proof.provenance,
        record.proof.index,
    )
