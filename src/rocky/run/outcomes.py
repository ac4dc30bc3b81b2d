"""Outcomes: how each step and the run ended, what a pipeline adds, and the listener that is told.

Values only. What a pipeline notes of a table is written in the transaction that records its
success, and nothing of it when the table fails. Calls of a listener come from several threads but
never two at once; it must be quick, models wait for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock
from typing import Final, Protocol, runtime_checkable

from rocky.analysis.disclosure import Disclosure
from rocky.diagnostics import Diagnostic
from rocky.errors import StateConflict, StateSyncFailed
from rocky.ledger.pipeline_records import (
    AnomalyRecord,
    CheckOutcome,
    DriftRecord,
    GracePeriod,
    LoadedFile,
    RowCount,
)
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    AttemptRecord,
    CostRate,
    ModelExecution,
    ModelStatus,
    RunStatus,
    TotalsRecord,
)
from rocky.plan.budget import BudgetVerdict
from rocky.plan.steps import CHANGED, HELD, NOT_HELD, Step
from rocky.run.checks.outcomes import ChecksReport
from rocky.run.engine.protocol import Engine, EngineEnd
from rocky.run.materialize.build import BuiltPartition

_GOOD = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How one step ended. `blocked_by` names the failed models for which it was withheld.

    They are sources where it `is_stale`: these have no row that is new enough.
    `finding` is why it failed, where that is something in the project.
    """

    step: Step
    execution: ModelExecution
    watermark: str | None = None
    partitions: tuple[BuiltPartition, ...] = ()
    blocked_by: tuple[str, ...] = ()
    finding: Diagnostic | None = None
    is_stale: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether readers may be built: it is built, reused, or found built by an earlier run."""
        skipped = self.execution.status is ModelStatus.SKIPPED and not self.blocked_by
        return self.execution.status in _GOOD or skipped

    @property
    def is_told(self) -> bool:
        """Whether it is recorded and reported.

        What was not asked for is so only when it failed, is held or left something.
        """
        left = self.execution.decision == HELD or bool(self.execution.files)
        return self.step.selected or not self.succeeded or left


@dataclass(frozen=True, slots=True)
class HookDelivery:
    """An event that a hook was told of. `error` is why it did not take it.

    `target` is what was called, as it may be shown. A `required` one that failed fails the run.
    """

    event: str
    target: str
    attempts: int
    error: str | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """All there is to say of a run when it has ended.

    `outcomes` are in the plan's order and hold what was selected, and whatever else failed.
    `warnings` are about the run as a whole. `unchanged_since` is the run that this one goes by,
    because nothing had changed since. `unchanged` are tables of a pipeline that had nothing new,
    `failed_sources` those that could not even be looked at, with why. `state_error` says why
    the records are not where they are kept, of a run that is recorded here as its status says.
    `tests` are those of the models, if they were asked for.
    `seal` is the file of the seal that was made of it, `seal_error` why there is none.
    `governance_error` is why the catalogue does not say what is declared of the tables.
    `hooks` are the events that hooks were told of. `engine_end` is how Spark ended while tables
    were built; `log` is where the stacks are, from the project's folder. `stop_asked` if somebody
    wanted it to stop, whether or not there was anything left to do.
    """

    run_id: RunId
    status: RunStatus
    started_at: datetime
    finished_at: datetime
    outcomes: tuple[StepOutcome, ...]
    totals: TotalsRecord
    rate: CostRate | None
    budget: BudgetVerdict
    resumed_from: RunId | None = None
    pipeline: str | None = None
    unchanged_since: RunId | None = None
    warnings: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    failed_sources: Mapping[str, str] = field(default_factory=dict)
    check_outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()
    state_error: str | None = None
    tests: ChecksReport | None = None
    seal: str | None = None
    seal_error: str | None = None
    governance_error: str | None = None
    engine_end: EngineEnd | None = None
    log: str | None = None
    hooks: tuple[HookDelivery, ...] = ()
    stop_asked: bool = False

    @property
    def hook_error(self) -> str | None:
        """Why the run has failed though its tables were built: a required hook did."""
        lost = [each for each in self.hooks if each.required and each.error is not None]
        return f"hook `{lost[0].event}` ({lost[0].target}): {lost[0].error}" if lost else None

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 nothing built, over budget, not sent or sealed, 2 some failed."""
        if self.status is RunStatus.INTERRUPTED:
            return 130
        if self.status is RunStatus.FAILURE or self.budget.fails or self.state_error is not None:
            return 1
        if self.status is RunStatus.PARTIAL_FAILURE:
            return 2
        errors = (self.seal_error, self.governance_error, self.hook_error)
        return 0 if all(each is None for each in errors) else 1


def is_left_alone(execution: ModelExecution) -> bool:
    """Whether a step had nothing to do: what an earlier run left stands."""
    idle = execution.status is ModelStatus.SUCCESS and execution.decision == "skip"
    return idle or execution.status is ModelStatus.REUSED


def note_unsent(report: RunResult, failure: StateSyncFailed) -> RunResult:
    """The report of a run whose state could not be sent at its end."""
    stand = "the tables and records here stand, and the next run of this machine sends them"
    if isinstance(failure, StateConflict):
        # The failure itself says what becomes of the records.
        stand = "the tables here stand"
    return replace(report, state_error=f"{stand}: {failure}")


def step_warnings(outcomes: Sequence[StepOutcome]) -> list[str]:
    """What whoever asked for the run should know of steps that went well."""
    found = []
    for each in outcomes:
        action = each.execution.action or ""
        if CHANGED in action:
            found.append(f"`{each.step.name}`: {action}: its provenance cannot be proved")
        if NOT_HELD in action:
            found.append(f"`{each.step.name}` is {action[action.index(NOT_HELD) :]}")
    return found


def status_of(outcomes: Sequence[StepOutcome]) -> RunStatus:
    """How a run with these outcomes did."""
    statuses = {each.execution.status for each in outcomes}
    if ModelStatus.INTERRUPTED in statuses:
        return RunStatus.INTERRUPTED
    if all(each.succeeded for each in outcomes):
        return RunStatus.SUCCESS
    some = any(each.succeeded for each in outcomes if each.step.selected)
    return RunStatus.PARTIAL_FAILURE if some else RunStatus.FAILURE


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


@runtime_checkable
class StartListener(Protocol):
    """Whoever also wants to know that a Spark of our own starts, or one elsewhere is reached."""

    def engine_starting(self, *, remote: bool) -> None:
        """It is being started; `remote` when it runs already and is only connected to."""

    def engine_started(self, duration_ms: int) -> None:
        """It is up. Not called of one that would not start."""


@runtime_checkable
class WaitListener(Protocol):
    """Whoever also wants to know that a cluster gives Spark nothing to work with."""

    def engine_waiting(self, said: str) -> None:
        """It has waited for a while, and goes on; said again from time to time."""


class WithoutProgress:
    """A listener that makes nothing of progress: Spark is not asked for it."""

    def progress(self, step: Step, done: int, known: int) -> None: ...


class SilentListener(WithoutProgress):
    """Nobody listens."""

    def queued(self, run_id: str, steps: Sequence[Step]) -> None: ...

    def started(self, step: Step) -> None: ...

    def retried(self, step: Step, attempt: AttemptRecord) -> None: ...

    def finished(self, outcome: StepOutcome) -> None: ...


class SerialListener:
    """A listener whose calls never overlap, whoever makes them."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = RLock()

    def tell(self, say: Callable[[Listener], None]) -> None:
        with self._lock:
            say(self._listener)


@dataclass(frozen=True, slots=True)
class StepNotes:
    """What is recorded of one table beside what building it did.

    `asset_key` is what orchestrators call it. `full_refresh` is why the table is loaded whole.
    `marker` says what its source was when it was listed, `columns` is JSON of those it had;
    `copied_from` is which source it is. `ended` are grace periods that are over. `refusal` is why
    it fails before anything is read.
    """

    asset_key: tuple[str, ...] = ()
    marker: str | None = None
    columns: str | None = None
    drift: tuple[DriftRecord, ...] = ()
    grace: tuple[GracePeriod, ...] = ()
    ended: tuple[GracePeriod, ...] = ()
    loaded: tuple[LoadedFile, ...] = ()
    full_refresh: str | None = None
    refusal: str | None = None
    copied_from: str | None = None


NO_NOTES: Final = StepNotes()


@dataclass(frozen=True, slots=True)
class EndedSteps:
    """A run whose steps have ended. `engine` starts Spark if nothing has yet.

    `disclosure` says which values may be told; without one all may.
    """

    run_id: RunId
    outcomes: tuple[StepOutcome, ...]
    engine: Callable[[], Engine]
    now: datetime
    disclosure: Disclosure | None = None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was found when all steps had ended. `counts` are rows by full name, for the history.

    `failed` when a check of severity `error` did not pass and that is to fail the run. `tests` are
    those that were run as the models were built; `interrupted` when the run's end cut some off.
    """

    check_outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()
    counts: Mapping[str, RowCount] = field(default_factory=dict)
    failed: bool = False
    warnings: tuple[str, ...] = ()
    tests: ChecksReport | None = None
    interrupted: bool = False


NO_CONCLUSION: Final = Conclusion()

Conclude = Callable[[EndedSteps], Conclusion]


@dataclass(frozen=True, slots=True)
class PipelineContribution:
    """All that a pipeline adds to a run. `steps` are by model key.

    `unchanged` are the full names of tables that had nothing new and so are no steps.
    `failed` are tables that could not even be looked at, with why: they fail the run in part.
    `checks_decide` where checking is all that the run is for: what fails them fails it as a whole.
    """

    pipeline: str | None = None
    steps: Mapping[str, StepNotes] = field(default_factory=dict)
    unchanged: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    filter: str | None = None
    resumed_from: RunId | None = None
    idempotency_key: str | None = None
    conclude: Conclude | None = None
    checks_decide: bool = False


NO_CONTRIBUTION: Final = PipelineContribution()
