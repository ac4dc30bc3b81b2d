"""All that the ledger is told of one model, in one transaction, and of a run when it ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, GracePeriod, LoadedFile
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.records import (
    ArtifactRecord,
    BudgetBreach,
    ModelExecution,
    PartitionRecord,
    TableProgress,
    TotalsRecord,
    WatermarkState,
)


@dataclass(frozen=True, slots=True)
class RunFindings:
    """What is known of a run when its steps have ended: sums, breaches, and what was checked."""

    totals: TotalsRecord | None = None
    budget_breaches: Sequence[BudgetBreach] = ()
    check_outcomes: Sequence[CheckOutcome] = ()
    anomalies: Sequence[AnomalyRecord] = ()


@dataclass(frozen=True, slots=True)
class PipelineRecords:
    """What a pipeline remembers of a table beside its rows.

    `ended` are grace periods that are over: the column came back, or is gone from the copy too.
    """

    progress: TableProgress | None = None
    grace: Sequence[GracePeriod] = ()
    ended: Sequence[GracePeriod] = ()
    loaded: Sequence[LoadedFile] = ()


@dataclass(frozen=True, slots=True)
class ModelRecords:
    """What happened to a model, and what it left behind.

    `artifacts` may be of another run: one that died after a commit and before its record.
    `is_whole` when the table was given other content as a whole: whatever else is known of its
    partitions, watermark, grace periods and loaded files is no longer so, and is removed.
    """

    execution: ModelExecution
    artifacts: Sequence[ArtifactRecord] = ()
    partitions: Sequence[PartitionRecord] = ()
    watermark: WatermarkState | None = None
    provenance: ProvenanceRecord | None = None
    index: Sequence[InputIndexEntry] = ()
    pipeline: PipelineRecords = PipelineRecords()
    is_whole: bool = False
