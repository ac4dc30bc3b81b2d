"""A run's report: the table at its end, and the JSON document."""

from typing import Any, Final

from rocky.cli.render.checks import describe_findings
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import (
    format_bytes,
    format_count,
    format_duration,
    format_seconds,
    format_usd,
)
from rocky.diagnostics import Code
from rocky.ledger.record import format_time
from rocky.ledger.run_records import BudgetBreach, ModelExecution, ModelStatus, RunStatus
from rocky.run.outcomes import RunResult, StepOutcome

_HEAD: Final = (
    "MODEL", "DECISION", "ROWS", "FILES", "READ", "WRITTEN", "CORE S", "TIME", "USD",
)  # fmt: skip
_NUMBERS: Final = {2, 3, 4, 5, 6, 7, 8}
LISTED_AT_MOST: Final = 20
"""In a run of more steps than that, those with nothing to do are not listed one by one."""
_DONE: Final = {
    RunStatus.SUCCESS: "done",
    RunStatus.PARTIAL_FAILURE: "done in part",
    RunStatus.FAILURE: "failed",
    RunStatus.INTERRUPTED: "interrupted",
    RunStatus.RUNNING: "running",
}


def render_run(report: RunResult) -> str:
    """The table at the end of a run, the failures, and a last line that says it all.

    In a large run what was reused is counted and not listed: nobody reads hundreds of lines.
    """
    listed = report.outcomes
    if len(listed) > LISTED_AT_MOST:
        listed = tuple(each for each in listed if not is_left_alone(each.execution))
    parts = [render_table(_HEAD, [_cells(each) for each in listed], _NUMBERS)] if listed else []
    left = len(report.outcomes) - len(listed)
    if left and listed:
        parts.append(f"{left} more left alone: `rocky run -o json` lists them")
    failures = [each for each in report.outcomes if each.execution.error]
    parts += [f"error: {each.step.name}: {each.execution.error}" for each in failures]
    if report.state_error is not None:
        parts.append(f"error: {report.state_error}")
    return "\n".join([*parts, render_last_line(report)])


def describe_budget(report: RunResult) -> list[str]:
    """Ceilings that were exceeded or could not be checked: for standard error."""
    said = [
        f"{report.budget.severity_of(each)}[{Code.BUDGET_EXCEEDED}]: {_describe_breach(each)}"
        for each in report.budget.breaches
    ]
    return [*said, *(f"note: {each}" for each in report.budget.unchecked)]


def render_last_line(report: RunResult) -> str:
    totals = report.totals
    said = [
        f"{report.run_id} {_DONE[report.status]}: {_count_endings(report)}",
        f"in {format_duration(totals.duration_ms)}",
    ]
    if totals.core_ms is not None:
        said.append(f"{format_seconds(totals.core_ms)} core seconds")
    if totals.cost_usd is not None:
        said.append(f"{format_usd(totals.cost_usd)} USD")
    if report.outcomes and all(is_left_alone(each.execution) for each in report.outcomes):
        said.append("nothing had to be built")
    if report.resumed_from is not None:
        said.append(f"resumed from {report.resumed_from}")
    return ", ".join(said)


def run_document(report: RunResult) -> dict[str, Any]:
    """What `rocky run -o json` prints."""
    outcomes = report.outcomes
    return _known(
        {
            "run_id": report.run_id,
            "status": report.status.value,
            "started_at": format_time(report.started_at),
            "finished_at": format_time(report.finished_at),
            "duration_ms": report.totals.duration_ms,
            "pipeline": report.pipeline,
            "tables_copied": sum(
                each.execution.status is ModelStatus.SUCCESS
                and each.step.kind != "inline"
                and not is_left_alone(each.execution)
                for each in outcomes
            ),
            "tables_reused": sum(each.execution.status is ModelStatus.REUSED for each in outcomes),
            "tables_failed": sum(each.execution.status is ModelStatus.FAILED for each in outcomes)
            + len(report.failed_sources),
            "tables_skipped": sum(
                each.execution.status is ModelStatus.SKIPPED for each in outcomes
            ),
            "interrupted": report.status is RunStatus.INTERRUPTED,
            "resumed_from": report.resumed_from,
            "state_error": report.state_error,
            "materializations": [
                _materialization(each)
                for each in outcomes
                if each.execution.status is ModelStatus.SUCCESS
            ],
            "errors": [_error(each) for each in outcomes if each.execution.error],
            "contained": [
                {"model": each.step.name, "blocked_by": list(each.blocked_by)}
                for each in outcomes
                if each.blocked_by
            ],
            "model_decisions": [_decision(each) for each in outcomes],
            "cost_summary": _cost_summary(report),
            "budget_breaches": [
                {
                    "code": Code.BUDGET_EXCEEDED.value,
                    "severity": report.budget.severity_of(each),
                    **each.to_json(),
                }
                for each in report.budget.breaches
            ],
            "budget_unchecked": list(report.budget.unchecked),
        }
    )


def _cells(outcome: StepOutcome) -> tuple[str, ...]:
    execution = outcome.execution
    return (
        outcome.step.name,
        _describe_decision(outcome),
        format_count(execution.rows_affected),
        format_count(execution.files),
        format_bytes(execution.bytes_scanned),
        format_bytes(execution.bytes_written),
        format_seconds(execution.metrics.executor_run_ms if execution.metrics else None),
        format_duration(execution.duration_ms),
        format_usd(execution.cost_usd),
    )


def _describe_decision(outcome: StepOutcome) -> str:
    execution = outcome.execution
    if execution.status is ModelStatus.SUCCESS:
        return "view" if outcome.step.kind == "inline" else (execution.decision or "built")
    if execution.reused_from is not None:
        return f"reused from {execution.reused_from}"
    return execution.status.value


def is_left_alone(execution: ModelExecution) -> bool:
    """Whether a step had nothing to do: what an earlier run left stands."""
    idle = execution.status is ModelStatus.SUCCESS and execution.decision == "skip"
    return idle or execution.status is ModelStatus.REUSED


def _count_endings(report: RunResult) -> str:
    """As `2 built, 1 failed, 1 check failed`: steps, what never became one, and checks."""
    counts: dict[str, int] = {}
    for each in report.outcomes:
        word = each.execution.status.value
        if each.execution.status is ModelStatus.SUCCESS:
            word = "unchanged" if is_left_alone(each.execution) else "built"
        counts[word] = counts.get(word, 0) + 1
    if report.failed_sources:
        counts["failed"] = counts.get("failed", 0) + len(report.failed_sources)
    said = [f"{count} {word}" for word, count in counts.items()]
    said += describe_findings(report.check_outcomes, report.anomalies)
    return ", ".join(said) or "nothing to do"


def _describe_breach(breach: BudgetBreach) -> str:
    whose = f"`{breach.model_name}`" if breach.model_name else "the run"
    return f"{whose} exceeded `{breach.limit_type}` = {breach.limit:g}: {breach.actual:g}"


def _materialization(outcome: StepOutcome) -> dict[str, Any]:
    execution = outcome.execution
    return _known(
        {
            "asset_key": (execution.target or outcome.step.name).split("."),
            "model": outcome.step.name,
            "rows_copied": execution.rows_affected,
            "rows_hash": execution.rows_hash,
            "canonical": execution.canonical,
            "files": execution.files,
            "commit_version": execution.commit_version,
            "started_at": format_time(execution.started_at),
            "duration_ms": execution.duration_ms,
            "bytes_scanned": execution.bytes_scanned,
            "bytes_written": execution.bytes_written,
            "cost_usd": execution.cost_usd,
            "metadata": _known(
                {
                    "strategy": execution.strategy,
                    "target_table_full_name": execution.target,
                    "sql_hash": execution.sql_hash or None,
                    "recipe_hash": execution.recipe_hash,
                    "input_hash": execution.input_hash,
                    "watermark": outcome.watermark,
                }
            ),
            "partitions": [
                _known({"key": each.key, "rows": each.rows, "error": each.error})
                for each in outcome.partitions
            ],
            "metrics": execution.metrics.to_json() if execution.metrics else None,
            "attempts": [each.to_json() for each in execution.attempts],
        }
    )


def _error(outcome: StepOutcome) -> dict[str, Any]:
    execution = outcome.execution
    return {
        "asset_key": (execution.target or outcome.step.name).split("."),
        "model": outcome.step.name,
        "error": execution.error,
        "failure_kind": execution.failure_kind or "unknown",
        "attempts": [each.to_json() for each in execution.attempts],
    }


def _decision(outcome: StepOutcome) -> dict[str, Any]:
    execution: ModelExecution = outcome.execution
    return _known(
        {
            "model": outcome.step.name,
            "status": execution.status.value,
            "decision": execution.decision,
            "reason": execution.reason,
            "reused_from": execution.reused_from,
            "basis": execution.reuse_basis,
        }
    )


def _cost_summary(report: RunResult) -> dict[str, Any]:
    return _known(
        {
            "adapter_type": "spark",
            "total_cost_usd": report.totals.cost_usd,
            "total_duration_ms": report.totals.duration_ms,
            "total_bytes_scanned": report.totals.bytes_scanned,
            "total_bytes_written": report.totals.bytes_written,
            "total_core_ms": report.totals.core_ms,
            "rate": report.rate.to_json() if report.rate else None,
            "per_model": [
                _known(
                    {
                        "model": each.step.name,
                        "duration_ms": each.execution.duration_ms,
                        "cost_usd": each.execution.cost_usd,
                    }
                )
                for each in report.outcomes
            ],
        }
    )


def _known(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}
