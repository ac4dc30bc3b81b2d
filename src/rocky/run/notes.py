"""What a pipeline adds to a run: notes for the records of its tables, and a last word on all.

A run of models has none of it. Whatever is noted of a table is written in the transaction that
records its success, and nothing of it when the table fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from rocky.ledger.pipeline_records import (
    AnomalyRecord,
    CheckOutcome,
    DriftRecord,
    GracePeriod,
    LoadedFile,
    RowCount,
)
from rocky.ledger.record import RunId
from rocky.run.engine import Engine
from rocky.run.outcomes import StepOutcome


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
class RunSoFar:
    """A run whose steps have ended. `engine` starts Spark if nothing has yet."""

    run_id: RunId
    outcomes: tuple[StepOutcome, ...]
    engine: Callable[[], Engine]
    now: datetime


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was found when all steps had ended. `counts` are rows by full name, for the history.

    `failed` when a check of severity `error` did not pass and that is to fail the run.
    """

    check_outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()
    counts: Mapping[str, RowCount] = field(default_factory=dict)
    failed: bool = False
    warnings: tuple[str, ...] = ()


NO_CONCLUSION: Final = Conclusion()

Conclude = Callable[[RunSoFar], Conclusion]


@dataclass(frozen=True, slots=True)
class PipelineNotes:
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


NO_PIPELINE: Final = PipelineNotes()
