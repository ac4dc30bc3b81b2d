"""Runs and a model's executions: as tables, or accounted for with who, where and which code.

An auditor copies the commit and the config's hash into other tools, so neither is shortened.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from rocky.cli.render.tables import (
    NOTHING,
    Fitted,
    Room,
    format_count,
    format_duration,
    format_moment,
    format_usd,
    render_fitted,
)
from rocky.ledger.run_records import ModelExecution, RunRecord, RunStatus
from rocky.operations.records.history import (
    ExecutionsReport,
    ExecutionSummary,
    HistoryReport,
    RunAudit,
    audit_of,
    run_duration_ms,
)
from rocky.operations.records.outcome_words import count_outcomes, outcome_of

_SHORT_HASH: Final = 12
_TREES: Final = {
    True: "dirty: what ran is not what the commit has",
    False: "clean",
    None: "not known",
}
_LABEL_WIDTH: Final = 8
_STATUSES: Final = {
    RunStatus.RUNNING: "running",
    RunStatus.SUCCESS: "success",
    RunStatus.PARTIAL_FAILURE: "partial",
    RunStatus.FAILURE: "failed",
    RunStatus.INTERRUPTED: "interrupted",
}
_REASON_SHOWN: Final = 60
_BASES: Final = {
    "content": "the same code and inputs",
    "rows": "its inputs have the same rows",
    "columns": "only columns that it does not read changed",
}


def describe_status(run: RunRecord) -> str:
    return "died" if run.died else _STATUSES[run.status]


def describe_unchanged(looked: str) -> str:
    """What there is to say of a run in which nothing had changed."""
    return f"nothing had changed since {looked}, which looked at each of them"


def describe_outcome(execution: ModelExecution) -> str:
    """As `built`, or `reused from RUN`."""
    word = outcome_of(execution)
    if execution.reused_from is not None:
        return f"{word} from {execution.reused_from}"
    return word


def render_runs(report: HistoryReport, width: int | None) -> Fitted:
    """A line a run, newest first."""
    head = ["RUN", "STARTED (UTC)", "TOOK", "STATUS", "MODELS", "ROWS", "USD"]
    rows = [
        [
            each.run_id,
            format_moment(each.started_at),
            format_duration(run_duration_ms(each)),
            describe_status(each),
            _why_nothing(each) or describe_work(each),
            format_count(_sum(model.rows_affected for model in each.models_executed)),
            format_usd(_sum(model.cost_usd for model in each.models_executed)),
        ]
        for each in (summary.record for summary in report.runs)
    ]
    # A run's id says when it began, so that goes first.
    return render_fitted(head, rows, {2, 5, 6}, Room(width, ("STARTED (UTC)", "ROWS", "USD")))


def _why_nothing(run: RunRecord) -> str | None:
    """Why a run that came to no model could not go on, in a few words."""
    if run.models_executed or run.failed_sources or run.died or not run.reason:
        return None
    said = run.reason.splitlines()[0]
    return said if len(said) <= _REASON_SHOWN else f"{said[: _REASON_SHOWN - 1].rstrip()}…"


def describe_work(run: RunRecord) -> str:
    """What a run did; of a pipeline also how many tables had nothing new, and what was found."""
    steps = run.models_executed or run.failed_sources or run.unchanged
    said = [_describe_steps(run)] if steps else []
    if run.check_outcomes or run.anomalies:
        # Only pipelines have checks; who asks about others does not wait for all that runs them.
        from rocky.cli.render.checks import describe_findings  # noqa: PLC0415

        said += describe_findings(run.check_outcomes, run.anomalies)
    if run.unchanged_since is not None:
        said.append("nothing changed")
    return ", ".join(said) or describe_models(())


def _describe_steps(run: RunRecord) -> str:
    found = run.unchanged or 0
    return describe_models(run.models_executed, len(run.failed_sources), found)


def describe_models(
    executions: Sequence[ModelExecution], never_begun: int = 0, unchanged: int = 0
) -> str:
    """As `12 built`, or `2 built, 9 reused, 1 failed`; what could not even begin has failed."""
    counts = count_outcomes(executions, never_begun, unchanged)
    return ", ".join(f"{count:,} {word}" for word, count in counts.items()) or "no models"


def render_executions(report: ExecutionsReport, width: int | None) -> Fitted:
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
        for run_id, each in ((entry.run_id, entry.execution) for entry in report.executions)
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


class AuditEntry(NamedTuple):
    """What is accounted for: a run, or one model's execution in it. `run` may have been removed."""

    title: str
    facts: dict[str, str]
    run: RunAudit | None


def render_audit(entries: Sequence[AuditEntry]) -> str:
    """A block each: what happened, who did it, from which commit, where and with what."""
    blocks = []
    for title, facts, run in entries:
        more = _facts(run) if run is not None else {"run": "its own record is gone"}
        blocks.append(
            "\n".join(
                [
                    title,
                    *(
                        f"  {name:<{_LABEL_WIDTH}}  {value}"
                        for name, value in (facts | more).items()
                    ),
                ]
            )
        )
    return "\n\n".join(blocks)


def _facts(run: RunAudit) -> dict[str, str]:
    facts = {
        "who": run.triggering_identity or "nobody is recorded",
        "trigger": f"{run.trigger} (session source: {run.session_source})",
        "commit": run.git_commit or "none is recorded",
        "branch": run.git_branch or "none is recorded",
        "tree": _TREES[run.git_dirty],
        "host": run.hostname,
        "rocky": run.rocky_version,
        "config": run.config_hash,
    }
    if run.ci:
        facts["ci"] = _describe_ci(run.ci)
    if run.selection:
        facts["selected"] = " ".join(run.selection)
    if run.reason is not None:
        facts["ended"] = " ".join(run.reason.split())
    return facts


def _describe_ci(identity: Mapping[str, str]) -> str:
    """The job on one line: the service, where, which, and who is said to have started it."""
    parts = (identity.get(key) for key in ("service", "repository", "workflow", "run", "job"))
    who = identity.get("triggered_by") or identity.get("actor")
    return " ".join(each for each in parts if each) + (f", by {who}" if who else "")


def audited_run(run: RunRecord) -> AuditEntry:
    """A run, to be accounted for."""
    facts = {"when": describe_start(run), "models": _describe_steps(run)}
    return AuditEntry(f"{run.run_id}: {describe_status(run)}", facts, audit_of(run))


def audited_execution(entry: ExecutionSummary) -> AuditEntry:
    """One model's execution, to be accounted for with its run."""
    run_id, each = entry.run_id, entry.execution
    took = f"took {format_duration(each.duration_ms)}"
    facts = {"when": f"started {format_moment(each.started_at)} UTC, {took}"}
    return AuditEntry(f"{run_id}: {describe_outcome(each)}", facts, entry.run)


def describe_reason(execution: ModelExecution) -> str:
    """Why it was decided so, or what went wrong, on one line."""
    basis = _BASES.get(execution.reuse_basis or "")
    found = execution.error or basis or execution.reason or NOTHING
    return " ".join(found.split())


def _sum(values: Any) -> Any:
    known = [each for each in values if each is not None]
    return sum(known) if known else None
