"""A state file with a past: what commands about runs are tried on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rocky.ledger import STATE_FILE, Ledger, open_ledger
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    ArtifactRecord,
    BudgetBreach,
    CommitRecord,
    CostRate,
    EngineRecord,
    MetricsRecord,
    ModelExecution,
    ModelStatus,
    PartitionRecord,
    PartitionStatus,
    RunRecord,
    RunStatus,
    TotalsRecord,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords, RunFindings

START = datetime(2026, 5, 30, 11, 4, 22, 643494, tzinfo=UTC)
FIRST, SECOND = "run-20260530-110422-643", "run-20260531-110422-643"
_DAY_MS = 24 * 60 * 60 * 1000
THIRD = "run-20260602-110422-643"
FORGOTTEN = RunId("run-20250101-000000-000")
"""A run that no ledger here knows."""


def a_run(started_at: datetime = START) -> RunRecord:
    return RunRecord(
        started_at,
        "Ci",
        "a54e8a0fa524b6a2aa",
        "runner-01",
        "0.3.0",
        triggering_identity="data-eng@example.com",
        session_source="ci",
        git_commit="a1b2c3d4e5f60718293a4b5c6d7e8f9012345678",
        git_branch="main",
        git_dirty=True,
        pipeline="shop",
        selection=("+fct_revenue",),
        engine=EngineRecord("4.1.4", "parquet-mr", {"spark.sql.ansi.enabled": "true"}),
    )


def a_model(name: str, after_ms: int, core_ms: int, cost: float, **fields) -> ModelExecution:
    begun = START + timedelta(milliseconds=after_ms)
    status = fields.pop("status", ModelStatus.SUCCESS)
    return ModelExecution(
        name,
        status,
        begun,
        begun + timedelta(milliseconds=812),
        812,
        decision="build",
        sql_hash="9b74c9897bac770ffc02",
        metrics=MetricsRecord(
            executor_run_ms=core_ms,
            shuffle_bytes=2_000_000,
            spill_bytes=0,
            peak_memory_bytes=64_000_000,
            tasks=4,
        ),
        cost_usd=cost,
        cost_rate=CostRate(per_core_hour=0.05, per_tb_read=5.0),
        **fields,
    )


def record_past(root: Path) -> None:
    """Two finished runs: one that went well, and one a day later that did not altogether."""
    with open_ledger(root / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run(), ["shop.marts.fct_revenue"])
        cheap = a_model("stg_orders", 0, 1500, 0.00002, rows_affected=1200, tags={"team": "core"})
        dear = a_model(
            "fct_revenue",
            900,
            7_200_000,
            0.1,
            rows_affected=14_820,
            bytes_scanned=1_048_576,
            bytes_written=806,
            commit_version=7,
            tags={"team": "finance", "tier": "gold"},
        )
        artifact = ArtifactRecord("ab", run_id, "fct_revenue", "t/ab.parquet", 7, 806, START)
        intervals = [
            PartitionRecord("fct_revenue", key, status, START, 10, 5, run_id)
            for key, status in (
                ("2026-05-28", PartitionStatus.COMPUTED),
                ("2026-05-29", PartitionStatus.COMPUTED),
                ("2026-05-30", PartitionStatus.FAILED),
            )
        ]
        watermark = WatermarkState("shop.marts.fct_revenue", "2026-05-29", START, "x", run_id)
        ledger.record_models(run_id, [ModelRecords(cheap)])
        ledger.record_models(run_id, [ModelRecords(dear, [artifact], intervals, watermark)])
        ledger.finish_run(
            run_id,
            RunStatus.SUCCESS,
            START + timedelta(seconds=2.62),
            found=RunFindings(
                TotalsRecord(2620, models=2, cost_usd=0.10002),
                [BudgetBreach("max_usd", 0.05, 0.10002)],
            ),
        )
        later = START + timedelta(days=1)
        second = ledger.begin_run(a_run(later), ["shop.marts.fct_revenue"])
        failed = a_model("stg_orders", 0, 10, 0.0, status=ModelStatus.FAILED, error="overflow")
        ledger.record_models(second, [ModelRecords(failed)])
        skipped = ModelExecution("fct_revenue", ModelStatus.SKIPPED, later, later, 0)
        ledger.record_models(second, [ModelRecords(skipped)])
        ledger.finish_run(second, RunStatus.PARTIAL_FAILURE, later + timedelta(minutes=3))


def a_reused(name: str, run_id: str, started_at: datetime, **fields) -> ModelExecution:
    return ModelExecution(
        name,
        ModelStatus.REUSED,
        started_at,
        started_at + timedelta(milliseconds=2),
        2,
        decision="reuse",
        reason=f"reused from {run_id}",
        reused_from=RunId(run_id),
        reuse_basis="content",
        env_hash="e5",
        input_hash="14",
        **fields,
    )


def record_reuse(root: Path) -> None:
    """A run, days after `record_past`, of all that may become of a model that does not fail."""
    later = START + timedelta(days=3)
    with open_ledger(root / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run(later), ["shop.marts.fct_revenue"])
        built = a_model("stg_orders", 3 * _DAY_MS, 10, 0.001, tags={"team": "core"})
        commits = (CommitRecord(8, "c0"), CommitRecord(9, "c1", "c2"))
        ledger.record_models(run_id, [ModelRecords(replace(built, commits=commits))])
        ledger.record_models(
            run_id, [ModelRecords(a_reused("fct_revenue", FIRST, later, tags={"team": "finance"}))]
        )
        ledger.record_models(run_id, [ModelRecords(a_reused("dim_customers", FORGOTTEN, later))])
        resumed = ModelExecution("stg_payments", ModelStatus.SKIPPED, later, later, 0)
        reason = f"built by {FIRST}"
        ledger.record_models(
            run_id, [ModelRecords(replace(resumed, decision="resume", reason=reason))]
        )
        idle = ModelExecution("large", ModelStatus.SUCCESS, later, later, 0, decision="skip")
        ledger.record_models(run_id, [ModelRecords(replace(idle, reason="nothing to store"))])
        ledger.finish_run(run_id, RunStatus.SUCCESS, later + timedelta(seconds=1))


def record_unpriced_reuse(root: Path) -> None:
    """A run that knows no prices, and a second that reuses all of it."""
    with open_ledger(root / STATE_FILE) as ledger:
        first = ledger.begin_run(a_run())
        unpriced = replace(a_model("stg_orders", 0, 1500, 0.0), cost_usd=None, cost_rate=None)
        ledger.record_models(first, [ModelRecords(unpriced)])
        ledger.finish_run(first, RunStatus.SUCCESS, START + timedelta(seconds=1))
        later = START + timedelta(days=1)
        second = ledger.begin_run(a_run(later))
        ledger.record_models(second, [ModelRecords(a_reused("stg_orders", first, later))])
        ledger.finish_run(second, RunStatus.SUCCESS, later + timedelta(seconds=1))


@contextmanager
def running(root: Path) -> Iterator[tuple[Ledger, str]]:
    """A run that is going on; afterwards it has died."""
    with open_ledger(root / STATE_FILE) as ledger:
        run_id = ledger.begin_run(a_run(START + timedelta(days=2)), ["shop.marts.fct_revenue"])
        ledger.record_models(run_id, [ModelRecords(a_model("stg_orders", 0, 10, 0.0))])
        yield ledger, run_id
