"""Resuming: what an unfinished run has built already, and this one need not build again.

A model is passed over only when nothing could be different: it succeeded in the newest run over
these models, which did not end well; it has the same recipe and the same inputs; it gives the same
rows each time; and its table is still at the version that run committed. Any doubt builds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rocky.ir.fingerprint import Recipe
from rocky.ledger.reader import Reader
from rocky.ledger.record import RunId
from rocky.ledger.records import ModelExecution, ModelStatus, RunRecord, RunStatus
from rocky.plan.steps import RunPlan, Step
from rocky.run.repeating import repeats
from rocky.store.snapshot import Snapshot

RESUMED: Final = "resume"
"""The `decision` of a model that an earlier run has built."""

_UNFINISHED: Final = frozenset(
    {RunStatus.INTERRUPTED, RunStatus.FAILURE, RunStatus.PARTIAL_FAILURE}
)


@dataclass(frozen=True, slots=True)
class Resumption:
    """What may be taken over: executions by model key, and the run they come from."""

    run_id: RunId | None = None
    executions: dict[str, ModelExecution] = field(default_factory=dict)

    def built_already(
        self, step: Step, recipe: Recipe, input_hash: str | None, snapshot: Snapshot | None
    ) -> ModelExecution | None:
        """The execution that stands for building the step now; None when it must be built."""
        before = self.executions.get(step.key)
        if (
            before is None
            or snapshot is None
            or input_hash is None
            or before.input_hash != input_hash
            or before.recipe_hash != recipe
            or before.commit_version != snapshot.version
        ):
            return None
        return before

    def reason_of(self, before: ModelExecution) -> str:
        """Why a model is passed over; the run that built it may be older than the one resumed."""
        if before.decision == RESUMED and before.reason is not None:
            return before.reason
        return f"built by {self.run_id}"


def find_resumption(plan: RunPlan, reader: Reader | None) -> Resumption:
    """What the newest run over the plan's models left, if it did not end well."""
    if reader is None:
        return Resumption()
    previous = _previous_run(plan.selected, reader)
    if previous is None or previous.status not in _UNFINISHED:
        return Resumption()
    wanted = {step.key for step in plan.steps if step.kind == "build" and repeats(plan, step.key)}
    done = {
        each.model_name.lower(): each
        for each in previous.models_executed
        if each.model_name.lower() in wanted and _counts(each)
    }
    return Resumption(previous.run_id, done)


def _previous_run(steps: Sequence[Step], reader: Reader) -> RunRecord | None:
    # Ids sort as the runs began.
    last = (reader.last_execution(step.name) for step in steps)
    newest = max((each.run_id for each in last if each is not None), default=None)
    return reader.run(newest) if newest is not None else None


def _counts(execution: ModelExecution) -> bool:
    if execution.status is ModelStatus.SKIPPED:
        return execution.decision == RESUMED
    return execution.status in (ModelStatus.SUCCESS, ModelStatus.REUSED)
