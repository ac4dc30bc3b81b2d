"""What is remembered of a table that gets other content: replaced whole, and only by a promotion."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.canonical import record_json
from rocky.evidence.verification import verify_evidence
from rocky.ledger import Ledger, open_evidence_reader, open_ledger
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.branches import record_promotion_tables, records_from_json, records_to_json
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ModelExecution,
    ModelStatus,
    PartitionRecord,
    PartitionStatus,
    RunRecord,
    RunStatus,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords, PipelineRecords, put_model
from rocky.store.warehouse import open_warehouse
from tools import verify_run

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
OPENING = RunRecord(NOW, "Manual", "0" * 64, "host", "0.3.0", warehouse="w")
TARGET = "c.s.daily"
TABLES = ("partitions", "watermarks", "grace_periods", "loaded_files")


def remembered(name: str, model: str = "daily", target: str = TARGET) -> ModelRecords:
    """Records of a table of which one thing of each kind is remembered, under a name."""
    return ModelRecords(
        ModelExecution(model, ModelStatus.SUCCESS, NOW, NOW, 0, target=target),
        partitions=[
            PartitionRecord(model, name, PartitionStatus.COMPUTED, NOW, 1, 1, RunId("run-1"))
        ],
        watermark=WatermarkState(target, name, NOW),
        pipeline=PipelineRecords(
            grace=[GracePeriod(target, name, "dropped", NOW, NOW)],
            loaded=[LoadedFile(target, name, f"{name}.csv", 1, NOW)],
        ),
    )


def emptied(records: ModelRecords) -> ModelRecords:
    return ModelRecords(records.execution, is_whole=True)


def run(ledger: Ledger, records: list[ModelRecords], *, promotes: bool) -> None:
    run_id = ledger.begin_run(OPENING)
    if promotes:
        promotion = PromotionRecord(run_id, "promote", "b1", "ann", NOW)
        record_promotion_tables(ledger, run_id, records, promotion)
    else:
        ledger.record_models(run_id, records)
    ledger.finish_run(run_id, RunStatus.SUCCESS, NOW)


def rows_of(path: Path) -> list[str]:
    with open_evidence_reader(path) as reader:
        return [f"{table} {key}" for table in TABLES for key, _ in reader.rows(table)]


def findings(path: Path) -> list[str]:
    with open_evidence_reader(path) as reader:
        found = verify_evidence(reader, lambda place: open_warehouse(place, base=path.parent))
    audit = verify_run.Audit(verify_run.load(path), path.parent / "w")
    audit.check()
    return [f"{each.code} {each.where}" for each in found.findings] + [
        f"script {each}" for each in audit.findings
    ]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "state.db"


def test_a_promotion_leaves_of_what_was_remembered_only_what_it_says(path):
    with open_ledger(path) as ledger:
        run(ledger, [remembered("a"), remembered("a", "daily2", "c.s.daily2")], promotes=False)
        whole = remembered("b")
        kept = ModelRecords(
            whole.execution,
            partitions=whole.partitions,
            pipeline=whole.pipeline,
            is_whole=True,
        )
        run(ledger, [records_from_json(records_to_json(kept))], promotes=True)

    assert [
        "partitions daily2|a",
        "partitions daily|b",
        "watermarks c.s.daily2",
        "grace_periods c.s.daily2|a",
        "grace_periods c.s.daily|b",
        "loaded_files c.s.daily2|a",
        "loaded_files c.s.daily|b",
    ] == rows_of(path)
    assert [] == findings(path)


def test_a_run_that_promotes_nothing_removes_nothing_of_the_kind_unseen(path):
    with open_ledger(path) as ledger:
        run(ledger, [remembered("a")], promotes=False)
        run(ledger, [emptied(remembered("a"))], promotes=False)

    found = findings(path)
    for kind in ("partitions daily|a", "loaded_files c.s.daily|a"):
        assert f"record_missing {kind}" in found
        assert [] != [each for each in found if each.startswith("script") and kind in each]


def test_a_promotion_removes_nothing_of_other_tables_unseen(path):
    other = ModelExecution("other", ModelStatus.SUCCESS, NOW, NOW, 0, target="c.s.other")
    with open_ledger(path) as ledger:
        run(ledger, [remembered("a")], promotes=False)
        run_id = ledger.begin_run(OPENING)
        with ledger.transaction() as rows:
            put_model(rows, run_id, ModelRecords(other))
            rows.remove("partitions", "daily|a")
            promotion = PromotionRecord(run_id, "promote", "b1", "ann", NOW)
            rows.put("promotions", run_id, record_json(promotion.to_json()))
        ledger.finish_run(run_id, RunStatus.SUCCESS, NOW)

    assert "record_missing partitions daily|a" in findings(path)
