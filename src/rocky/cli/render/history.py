"""Runs and a model's executions, as tables for people and as JSON documents."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from rocky.cli.render.audit import AuditEntry, audit_of
from rocky.cli.render.checks import describe_findings
from rocky.cli.render.fitting import Fitted, Room, render_fitted
from rocky.cli.render.units import (
    NOTHING,
    format_count,
    format_duration,
    format_moment,
    format_usd,
)
from rocky.ledger import RecordedExecution
from rocky.ledger.record import RunId
from rocky.ledger.records import ModelExecution, ModelStatus, RunRecord, RunStatus

_SHORT_HASH: Final = 12
_RESUMED: Final = "resume"
_SKIPPED: Final = "skip"
_STATUSES: Final = {
    RunStatus.RUNNING: "running",
    RunStatus.SUCCESS: "success",
    RunStatus.PARTIAL_FAILURE: "partial",
    RunStatus.FAILURE: "failed",
    RunStatus.INTERRUPTED: "interrupted",
}
_IDLE: Final = "not needed"
_MOVED: Final = {"clone": "cloned", "promote": "promoted", "revert": "moved back"}
"""Tables that got content which was there already, by decision."""
_OUTCOMES: Final = (
    "built",
    *_MOVED.values(),
    "reused",
    "resumed",
    _IDLE,
    "failed",
    "skipped",
    "interrupted",
)
_BASES: Final = {
    "content": "the same code and inputs",
    "rows": "its inputs have the same rows",
    "columns": "only columns that it does not read changed",
}


def history_document(runs: Sequence[RunRecord], *, audit: bool) -> dict[str, Any]:
    """What `rocky history -o json` prints of runs."""
    return {"count": len(runs), "runs": [_run(each, audit=audit) for each in runs]}


def executions_document(
    model: str,
    executions: Sequence[RecordedExecution],
    runs: Mapping[RunId, RunRecord] | None = None,
) -> dict[str, Any]:
    """What `rocky history --model -o json` prints; `runs` are given for an audit."""
    documents = []
    for run_id, each in executions:
        document = {"run_id": run_id, **_execution(each)}
        if runs is not None and run_id in runs:
            document["run"] = {"trigger": runs[run_id].trigger, **audit_of(runs[run_id])}
        documents.append(document)
    return {"model": model, "count": len(executions), "executions": documents}


def run_duration_ms(run: RunRecord) -> int | None:
    """How long a run took; None while it runs, and for ever when it died."""
    if run.finished_at is None:
        return None
    return (run.finished_at - run.started_at) // timedelta(milliseconds=1)


def describe_status(run: RunRecord) -> str:
    return "died" if run.died else _STATUSES[run.status]


def outcome_of(execution: ModelExecution) -> str:
    """What became of a model, in a word: what was decided, and how that went."""
    if execution.status is ModelStatus.SUCCESS:
        # A seed that is loaded, or a query that no build reads.
        if execution.decision == _SKIPPED:
            return _IDLE
        return _MOVED.get(execution.decision or "", "built")
    if execution.status is ModelStatus.SKIPPED and execution.decision == _RESUMED:
        return "resumed"
    return execution.status.value


def describe_outcome(execution: ModelExecution) -> str:
    """As `built`, or `reused from RUN`."""
    word = outcome_of(execution)
    if execution.reused_from is not None:
        return f"{word} from {execution.reused_from}"
    return word


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
        "pipeline": run.pipeline,
        "filter": run.filter,
        "resumed_from": run.resumed_from,
        "idempotency_key": run.idempotency_key,
        "plan_id": run.plan_id,
        "unchanged": run.unchanged,
        "failed_sources": whole.get("failed_sources"),
        "check_outcomes": whole.get("check_outcomes"),
        "anomalies": whole.get("anomalies"),
        "models_executed": len(run.models_executed),
        "models": [_model(each) for each in run.models_executed],
        "totals": whole.get("totals"),
        "budget_breaches": whole.get("budget_breaches"),
    }
    return _known(document) | (audit_of(run) if audit else {})


def _model(execution: ModelExecution) -> dict[str, Any]:
    return _known(
        {
            "model_name": execution.model_name,
            "status": execution.status.value,
            "duration_ms": execution.duration_ms,
            "rows_affected": execution.rows_affected,
            "cost_usd": execution.cost_usd,
            "decision": execution.decision,
            "reason": execution.reason,
            "reused_from": execution.reused_from,
            "reuse_basis": execution.reuse_basis,
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


def render_runs(runs: Sequence[RunRecord], width: int | None) -> Fitted:
    """A line a run, newest first."""
    head = ["RUN", "STARTED (UTC)", "TOOK", "STATUS", "MODELS", "ROWS", "USD"]
    rows = [
        [
            each.run_id,
            format_moment(each.started_at),
            format_duration(run_duration_ms(each)),
            describe_status(each),
            describe_work(each),
            format_count(_sum(model.rows_affected for model in each.models_executed)),
            format_usd(_sum(model.cost_usd for model in each.models_executed)),
        ]
        for each in runs
    ]
    # A run's id says when it began, so that goes first.
    return render_fitted(head, rows, {2, 5, 6}, Room(width, ("STARTED (UTC)", "ROWS", "USD")))


def describe_work(run: RunRecord) -> str:
    """What a run did; of a pipeline also how many tables had nothing new, and what was found."""
    said = [_describe_steps(run)] if run.models_executed or run.failed_sources else []
    said += [f"{run.unchanged:,} unchanged"] if run.unchanged else []
    said += describe_findings(run.check_outcomes, run.anomalies)
    return ", ".join(said) or describe_models(())


def _describe_steps(run: RunRecord) -> str:
    return describe_models(run.models_executed, len(run.failed_sources))


def describe_models(executions: Sequence[ModelExecution], never_begun: int = 0) -> str:
    """As `12 built`, or `2 built, 9 reused, 1 failed`; what could not even begin has failed."""
    counts = Counter(outcome_of(each) for each in executions)
    counts["failed"] += never_begun
    return (
        ", ".join(f"{counts[word]:,} {word}" for word in _OUTCOMES if counts[word]) or "no models"
    )


def render_executions(executions: Sequence[RecordedExecution], width: int | None) -> Fitted:
    """A line an execution, newest first."""
    rows = [
        (
            run_id,
            format_moment(each.started_at),
            format_duration(each.duration_ms),
            describe_outcome(each),
            format_count(each.rows_affected),
            format_count(each.commit_version),
            format_usd(each.cost_usd),
            each.sql_hash[:_SHORT_HASH] or NOTHING,
            describe_reason(each),
        )
        for run_id, each in executions
    ]
    head = ("RUN", "STARTED (UTC)", "TOOK", "DECISION", "ROWS", "VERSION", "USD", "SQL", "WHY")
    expendable = ("STARTED (UTC)", "SQL", "VERSION", "WHY", "USD", "ROWS")
    return render_fitted(head, rows, {2, 4, 5, 6}, Room(width, expendable, elastic="WHY"))


def describe_run(run: RunRecord) -> str:
    """A run in a line: how it went, and when."""
    return f"{run.run_id}: {describe_status(run)}, {describe_start(run)}"


def describe_start(run: RunRecord) -> str:
    """When a run began and how long it took, if it has ended."""
    took = run_duration_ms(run)
    length = f", took {format_duration(took)}" if took is not None else ""
    return f"started {format_moment(run.started_at)} UTC{length}"


def audited_run(run: RunRecord) -> AuditEntry:
    """A run, to be accounted for."""
    facts = {"when": describe_start(run), "models": _describe_steps(run)}
    return AuditEntry(f"{run.run_id}: {describe_status(run)}", facts, run)


def audited_execution(recorded: RecordedExecution, run: RunRecord | None) -> AuditEntry:
    """One model's execution, to be accounted for with its run."""
    run_id, each = recorded
    took = f"took {format_duration(each.duration_ms)}"
    facts = {"when": f"started {format_moment(each.started_at)} UTC, {took}"}
    return AuditEntry(f"{run_id}: {describe_outcome(each)}", facts, run)


def describe_reason(execution: ModelExecution) -> str:
    """Why it was decided so, or what went wrong, on one line."""
    basis = _BASES.get(execution.reuse_basis or "")
    found = execution.error or basis or execution.reason or NOTHING
    return " ".join(found.split())


def _sum(values: Any) -> Any:
    known = [each for each in values if each is not None]
    return sum(known) if known else None
