"""All that the ledger is told of one model in a run, to be written in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.records import (
    ArtifactRecord,
    ModelExecution,
    PartitionRecord,
    TableProgress,
    WatermarkState,
)


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
    """

    execution: ModelExecution
    artifacts: Sequence[ArtifactRecord] = ()
    partitions: Sequence[PartitionRecord] = ()
    watermark: WatermarkState | None = None
    provenance: ProvenanceRecord | None = None
    index: Sequence[InputIndexEntry] = ()
    pipeline: PipelineRecords = PipelineRecords()
