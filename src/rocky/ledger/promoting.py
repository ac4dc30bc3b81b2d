"""What a promotion leaves in the ledger, in one transaction: every table's records and its own.

The records are made before the first table moves and kept in a journal, as JSON, so that whoever
finishes the work after a crash records the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rocky.ledger.branch_records import PROMOTIONS, PromotionRecord
from rocky.ledger.encoding import format_json
from rocky.ledger.model_records import ModelRecords, PipelineRecords
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.record import RunId
from rocky.ledger.records import (
    ArtifactRecord,
    ModelExecution,
    PartitionRecord,
    WatermarkState,
)
from rocky.ledger.writer import Ledger, put_model


def record_promoted(
    ledger: Ledger, run_id: RunId, tables: Sequence[ModelRecords], promotion: PromotionRecord
) -> None:
    """All there is to say of a promotion, in one transaction: it is known whole or not at all."""
    with ledger.transaction() as rows:
        for each in tables:
            put_model(rows, run_id, each)
        rows.put(PROMOTIONS, promotion.run_id, format_json(promotion.to_json()))


def records_to_json(records: ModelRecords) -> dict[str, Any]:
    """The records of a table as a journal keeps them."""
    found: dict[str, Any] = {
        "execution": records.execution.to_json(),
        "artifacts": [each.to_json() for each in records.artifacts],
        "partitions": [each.to_json() for each in records.partitions],
        "index": [each.to_json() for each in records.index],
        "grace": [each.to_json() for each in records.pipeline.grace],
        "loaded": [each.to_json() for each in records.pipeline.loaded],
        "whole": records.is_whole,
    }
    if records.watermark is not None:
        found["watermark"] = records.watermark.to_json()
    if records.provenance is not None:
        found["provenance"] = records.provenance.to_json()
    return found


def records_from_json(found: Mapping[str, Any]) -> ModelRecords:
    """The records in a journal. Raises MalformedRecord."""
    watermark, provenance = found.get("watermark"), found.get("provenance")
    return ModelRecords(
        ModelExecution.from_json(found["execution"]),
        tuple(map(ArtifactRecord.from_json, found["artifacts"])),
        tuple(map(PartitionRecord.from_json, found["partitions"])),
        None if watermark is None else WatermarkState.from_json(watermark),
        None if provenance is None else ProvenanceRecord.from_json(provenance),
        tuple(map(InputIndexEntry.from_json, found["index"])),
        PipelineRecords(
            grace=tuple(map(GracePeriod.from_json, found["grace"])),
            loaded=tuple(map(LoadedFile.from_json, found["loaded"])),
        ),
        is_whole=bool(found["whole"]),
    )


def take_up(records: ModelRecords, run_id: RunId, made_by: RunId) -> ModelRecords:
    """The same records, written by a run that finishes what another has begun and died over.

    Commits and files stay the dead one's, whose name they carry.
    """
    execution = records.execution
    adopted = tuple(
        replace(each, run_id=made_by, model_name=execution.model_name) for each in execution.commits
    )
    provenance, watermark = records.provenance, records.watermark
    owner = made_by if adopted else run_id
    return replace(
        records,
        execution=replace(execution, commits=(), adopted=adopted),
        artifacts=tuple(replace(each, run_id=owner) for each in records.artifacts),
        partitions=tuple(replace(each, run_id=run_id) for each in records.partitions),
        watermark=None if watermark is None else replace(watermark, run_id=run_id),
        provenance=None if provenance is None else replace(provenance, run_id=run_id),
        index=tuple(replace(each, run_id=run_id) for each in records.index),
    )
