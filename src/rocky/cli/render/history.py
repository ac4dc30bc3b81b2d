"""Runs and a model's executions, as tables for people and as JSON documents."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from rocky.cli.render.tables import render_table
from rocky.cli.render.units import (
    NOTHING,
    format_count,
    format_duration,
    format_moment,
    format_usd,
)
from rocky.ledger import RecordedExecution
from rocky.ledger.records import ModelExecution, ModelStatus, RunRecord, RunStatus

AUDIT_FIELDS: Final = (
    "config_hash",
    "triggering_identity",
    "session_source",
    "git_commit",
    "git_branch",
    "git_dirty",
    "target_catalog",
    "hostname",
    "rocky_version",
    "pipeline",
    "selection",
    "full_refresh",
    "engine",
    "reason",
)
_SHORT_HASH: Final = 12
_STATUSES: Final = {
    RunStatus.RUNNING: "running",
    RunStatus.SUCCESS: "success",
    RunStatus.PARTIAL_FAILURE: "partial",
    RunStatus.FAILURE: "failed",
    RunStatus.INTERRUPTED: "interrupted",
}


def history_document(runs: Sequence[RunRecord], *, audit: bool) -> dict[str, Any]:
    """What `rocky history -o json` prints of runs."""
    return {"count": len(runs), "runs": [_run(each, audit=audit) for each in runs]}


def executions_document(model: str, executions: Sequence[RecordedExecution]) -> dict[str, Any]:
    """What `rocky history --model -o json` prints."""
    return {
        "model": model,
        "count": len(executions),
        "executions": [{"run_id": run_id, **_execution(each)} for run_id, each in executions],
    }


def run_duration_ms(run: RunRecord) -> int | None:
    """How long a run took; None while it runs, and for ever when it died."""
    if run.finished_at is None:
        return None
    return (run.finished_at - run.started_at) // timedelta(milliseconds=1)


def describe_status(run: RunRecord) -> str:
    return "died" if run.died else _STATUSES[run.status]


def _run(run: RunRecord, *, audit: bool) -> dict[str, Any]:
    whole = run.to_json()
    document: dict[str, Any] = {
        "run_id": run.run_id,
        "started_at": whole["started_at"],
        "finished_at": whole.get("finished_at"),
        "duration_ms": run_duration_ms(run),
        "status": whole["status"],
        "died": run.died,
        "trigger": run.trigger,
        "models_executed": len(run.models_executed),
        "models": [_model(each) for each in run.models_executed],
        "totals": whole.get("totals"),
        "budget_breaches": whole.get("budget_breaches"),
    }
    if audit:
        document |= {name: whole.get(name) for name in AUDIT_FIELDS}
    return _known(document)


def _model(execution: ModelExecution) -> dict[str, Any]:
    return _known(
        {
            "model_name": execution.model_name,
            "status": execution.status.value,
            "duration_ms": execution.duration_ms,
            "rows_affected": execution.rows_affected,
            "cost_usd": execution.cost_usd,
            "decision": execution.decision,
            "recipe_hash": execution.recipe_hash,
            "error": execution.error,
        }
    )


def _execution(execution: ModelExecution) -> dict[str, Any]:
    whole = execution.to_json()
    whole.pop("model_name")
    return whole


def _known(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}


def render_runs(runs: Sequence[RunRecord], *, audit: bool) -> str:
    """A line a run, newest first."""
    head = ["RUN", "STARTED (UTC)", "TOOK", "STATUS", "MODELS", "ROWS", "USD"]
    rows = [
        [
            each.run_id,
            format_moment(each.started_at),
            format_duration(run_duration_ms(each)),
            describe_status(each),
            describe_models(each.models_executed),
            format_count(_sum(model.rows_affected for model in each.models_executed)),
            format_usd(_sum(model.cost_usd for model in each.models_executed)),
        ]
        for each in runs
    ]
    if audit:
        head += ["TRIGGER", "WHO", "HOST", "COMMIT", "BRANCH", "CONFIG", "ROCKY"]
        rows = [row + _audit_cells(run) for row, run in zip(rows, runs, strict=True)]
    return render_table(head, rows, right={2, 5, 6})


def _audit_cells(run: RunRecord) -> list[str]:
    commit = run.git_commit[:_SHORT_HASH] if run.git_commit else NOTHING
    return [
        run.trigger,
        run.triggering_identity or NOTHING,
        run.hostname,
        # What ran is not what the commit has.
        f"{commit}*" if run.git_dirty else commit,
        run.git_branch or NOTHING,
        run.config_hash[:_SHORT_HASH],
        run.rocky_version,
    ]


def describe_models(executions: Sequence[ModelExecution]) -> str:
    """As `12`, or `10, 1 failed, 1 skipped` when not all went well."""
    counts = Counter(each.status for each in executions)
    well = counts[ModelStatus.SUCCESS] + counts[ModelStatus.REUSED]
    rest = [
        f"{counts[status]} {status.value}"
        for status in (ModelStatus.FAILED, ModelStatus.SKIPPED, ModelStatus.INTERRUPTED)
        if counts[status]
    ]
    return ", ".join([str(well), *rest])


def render_executions(executions: Sequence[RecordedExecution]) -> str:
    """A line an execution, newest first."""
    rows = [
        (
            run_id,
            format_moment(each.started_at),
            format_duration(each.duration_ms),
            each.status.value,
            each.decision or NOTHING,
            format_count(each.rows_affected),
            format_count(each.commit_version),
            format_usd(each.cost_usd),
            each.sql_hash[:_SHORT_HASH] or NOTHING,
        )
        for run_id, each in executions
    ]
    head = ("RUN", "STARTED (UTC)", "TOOK", "STATUS", "DECISION", "ROWS", "VERSION", "USD", "SQL")
    return render_table(head, rows, right={2, 5, 6, 7})


def _sum(values: Any) -> Any:
    known = [each for each in values if each is not None]
    return sum(known) if known else None
