"""The journal of a run: what ended is in the ledger before anybody is told."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelStatus, ProgressStatus, TableProgress
from rocky.ledger.writer import Ledger, ModelRecords, PipelineRecords
from rocky.plan.steps import RunPlan
from rocky.run.outcomes import Listener, SerialListener, SilentListener, StepOutcome
from rocky.run.record.provenance import StepRecord

_PROGRESS: Final = {
    ModelStatus.SUCCESS: ProgressStatus.SUCCESS,
    ModelStatus.REUSED: ProgressStatus.SUCCESS,
    ModelStatus.FAILED: ProgressStatus.FAILED,
    ModelStatus.INTERRUPTED: ProgressStatus.INTERRUPTED,
}


class Journal:
    """Writes down how steps ended and tells whoever listens. Threads may share it."""

    def __init__(self, plan: RunPlan, run_id: RunId, ledger: Ledger, listener: Listener) -> None:
        self._order = [step.id for step in plan.steps]
        self._places = {step: place for place, step in enumerate(self._order)}
        self._run_id = run_id
        self._ledger = ledger
        self._listener = SerialListener(listener)
        self._outcomes: dict[str, StepOutcome] = {}
        self._lock = Lock()
        self.is_silent = isinstance(listener, SilentListener)

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
            places = self._places
            self._ledger.record_models(
                self._run_id, [_of_ledger(each, places[each.outcome.step.id]) for each in kept]
            )
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


def _of_ledger(record: StepRecord, index: int) -> ModelRecords:
    notes, execution = record.notes, record.outcome.execution
    progress = None
    if notes.asset_key:
        progress = TableProgress(
            index,
            record.outcome.step.key,
            notes.asset_key,
            _PROGRESS.get(execution.status, ProgressStatus.SKIPPED),
            execution.duration_ms,
            execution.finished_at,
            execution.error,
        )
    return ModelRecords(
        record.outcome.execution,
        record.artifacts,
        record.partitions,
        record.watermark,
        record.proof.provenance,
        record.proof.index,
        PipelineRecords(progress, notes.grace, notes.ended, notes.loaded),
    )
