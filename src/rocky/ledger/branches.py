"""Branches and promotions in the ledger: written and read one at a time, and rarely.

A branch keeps its row when it is deleted, so that the ledger still says who made and dropped it.
When one of the same name is made later, the former's row is kept under its name and time.

A promotion leaves every table's records and its own in one transaction. The records are made
before the first table moves and kept in a journal, as JSON, so that whoever finishes the work
after a crash records the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from rocky.canonical import record_json
from rocky.ledger.branch_records import (
    BRANCHES,
    ENDING,
    PROMOTIONS,
    BranchRecord,
    PromotionRecord,
    former_key,
)
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.provenance import InputIndexEntry, ProvenanceRecord
from rocky.ledger.record import Record, RunId, key_of, load_json, load_record
from rocky.ledger.row_evidence import check_table
from rocky.ledger.run_records import ArtifactRecord, ModelExecution, PartitionRecord, WatermarkState
from rocky.ledger.schema import has_chain, table_names
from rocky.ledger.writer import Ledger, ModelRecords, PipelineRecords, put_model

R = TypeVar("R", bound=Record)


def record_branch(ledger: LedgerFile, record: BranchRecord) -> None:
    """Write a branch that was made. One of the same name that was deleted keeps a row of its own.

    So no row is ever lost: what each entry of the chain is about can be shown.
    """
    key = branch_key(record.name)
    with ledger.transaction() as rows:
        former = rows.find(BRANCHES, key)
        if former is not None:
            rows.put(
                BRANCHES,
                former_key(load_record(BranchRecord, ledger.path, BRANCHES, key, former)),
                former,
            )
        rows.put(BRANCHES, key, record_json(record.to_json()))


def record_deletion(ledger: LedgerFile, gone: BranchRecord) -> None:
    """Write that a branch was deleted, when and by whom. All else in its row stays."""
    key = branch_key(gone.name)
    with ledger.transaction() as rows:
        stored = rows.find(BRANCHES, key)
        said = gone.to_json()
        if stored is not None:
            ending = {name: said[name] for name in ENDING if name in said}
            said = load_json(ledger.path, BRANCHES, key, stored) | ending
        rows.put(BRANCHES, key, record_json(said))


def branch_key(name: str) -> str:
    """What a branch's row is kept under: folders, too, may not tell `A` from `a`."""
    return key_of(name.lower())


def load_branches(path: Path) -> tuple[BranchRecord, ...]:
    """Every branch there is or was, by name; none without a ledger. Raises LedgerUnreadable.

    Also where a row is not as Rocky wrote it: who made a branch decides whose approvals count.
    A branch that was promoted is as if it had been made of what it promoted.
    """
    found = [each for key, each in _load_all(path, BRANCHES, BranchRecord) if is_newest(key, each)]
    promotions = load_promotions(path) if found else ()
    return tuple(_after_promotions(each, promotions) for each in found)


def is_newest(key: str, branch: BranchRecord) -> bool:
    """Whether a row is of the newest branch of its name."""
    return key == branch_key(branch.name)


def _after_promotions(
    branch: BranchRecord, promotions: tuple[PromotionRecord, ...]
) -> BranchRecord:
    tables, at = dict(branch.tables), dict(branch.at)
    begun: dict[str, datetime] = {}
    for each in promotions:
        # A revert may come after the branch was made anew: its versions are those of the old one.
        begun[each.run_id] = begun.get(each.reverts or "", each.at)
        if branch_key(each.branch) != branch_key(branch.name):
            continue
        if begun[each.run_id] < branch.created_at:
            continue
        for moved in each.tables:
            if moved.branch_version is not None:
                tables[moved.target] = moved.to_version
                at[moved.target] = moved.branch_version
    return replace(branch, tables=tables, at=at)


def load_promotions(path: Path) -> tuple[PromotionRecord, ...]:
    """Every promotion and revert, oldest first; none without a ledger."""
    return tuple(each for _, each in _load_all(path, PROMOTIONS, PromotionRecord))


def _load_all(path: Path, table: str, kind: type[R]) -> tuple[tuple[str, R], ...]:
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return ()
    try:
        with translated(path, writing=False):
            if table not in table_names(connection):
                return ()
            if has_chain(connection):
                check_table(connection, path, table)
            stored = connection.execute(f"SELECT key, value FROM {table} ORDER BY key").fetchall()  # noqa: S608 - one of our own names
    finally:
        connection.close()
    return tuple((key, load_record(kind, path, table, key, value)) for key, value in stored)


def record_promotion_tables(
    ledger: Ledger, run_id: RunId, tables: Sequence[ModelRecords], promotion: PromotionRecord
) -> None:
    """All there is to say of a promotion, in one transaction: it is known whole or not at all.

    Raises ClaimLost when others have recorded its run as dead.
    """
    with ledger.transaction() as rows:
        ledger.refuse_dead(rows, run_id)
        for each in tables:
            put_model(rows, run_id, each)
        rows.put(PROMOTIONS, promotion.run_id, record_json(promotion.to_json()))


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


def adopt_records(records: ModelRecords, run_id: RunId, made_by: RunId) -> ModelRecords:
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
