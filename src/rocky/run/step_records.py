"""What is recorded of a step, and what it took: values only."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from rocky.ledger.records import (
    ArtifactRecord,
    AttemptRecord,
    CostRate,
    PartitionRecord,
    WatermarkState,
)
from rocky.run.notes import NO_NOTES, StepNotes
from rocky.run.outcomes import StepOutcome
from rocky.run.proving import NO_PROOF, Proof
from rocky.spark.layout import Metrics

NOT_MEASURED: Final = Metrics()


@dataclass(frozen=True, slots=True)
class StepRecord:
    """All that one transaction of the ledger says of a step."""

    outcome: StepOutcome
    artifacts: tuple[ArtifactRecord, ...] = ()
    partitions: tuple[PartitionRecord, ...] = ()
    watermark: WatermarkState | None = None
    proof: Proof = NO_PROOF
    notes: StepNotes = NO_NOTES


@dataclass(frozen=True, slots=True)
class Timing:
    """When a step began and how long it took."""

    started_at: datetime
    duration_ms: int

    @property
    def finished_at(self) -> datetime:
        return self.started_at + timedelta(milliseconds=self.duration_ms)


@dataclass(frozen=True, slots=True)
class Used:
    """What a step took: attempts, Spark's metrics, and the rates they are priced at."""

    attempts: tuple[AttemptRecord, ...] = ()
    metrics: Metrics = NOT_MEASURED
    rate: CostRate | None = None


NOTHING_USED: Final = Used()
