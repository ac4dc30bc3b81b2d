"""The report of a pipeline that is no set of models: what was copied, left alone, drifted, checked.

It is a run's report with more at its end, so that whoever reads one can read the other.
"""

from collections.abc import Iterator
from typing import Any, Final

from rocky.cli.render.checks import checks_fragment, render_checks
from rocky.cli.render.compilation import counted
from rocky.cli.render.run import render_run, run_document
from rocky.ledger.pipeline_records import DriftRecord
from rocky.pipelines.report import PipelineResult

_UNREMARKABLE: Final = "ignore"
_ENDED: Final = "notice_ended"
_REACHES_SHOWN: Final = 5


def render_pipeline(report: PipelineResult) -> str:
    """Drift, checks and what failed before it was read; then the run's own table and last line."""
    parts = [
        *_render_drift(report),
        *(f"error: {name}: {why}" for name, why in report.run.failed_sources.items()),
    ]
    if report.checks is not None:
        found = report.checks
        parts.append(render_checks(found.outcomes, found.anomalies, found.samples))
    parts.append(render_run(report.run))
    if report.run.unchanged:
        parts.append(f"{counted(len(report.run.unchanged), 'table')} unchanged since the last copy")
    left = [each for each in report.excluded if each.name and each.target is None]
    parts += [f"left alone: {each.name} ({each.reason})" for each in left]
    return "\n".join(part for part in parts if part)


def pipeline_document(report: PipelineResult) -> dict[str, Any]:
    """What `rocky run -o json` prints of such a pipeline."""
    document = {
        **run_document(report.run),
        "pipeline_type": report.kind,
        "excluded_tables": [
            {
                key: value
                for key, value in (
                    ("table_name", each.name),
                    ("target", each.target),
                    ("reason", each.reason),
                )
                if value is not None
            }
            for each in report.excluded
        ],
        "tables_unchanged": len(report.run.unchanged),
        "failed_sources": dict(report.run.failed_sources),
        "drift": _drift_document(report),
        "warnings": list(report.run.warnings),
    }
    if report.checks is not None:
        found = report.checks
        document |= checks_fragment(found.outcomes, found.anomalies, found.samples)
    return document


def _drifted(report: PipelineResult) -> Iterator[tuple[str, DriftRecord]]:
    for outcome in report.run.outcomes:
        for record in outcome.execution.drift:
            yield outcome.step.name, record


def _render_drift(report: PipelineResult) -> Iterator[str]:
    for table, record in _drifted(report):
        if record.grade != _UNREMARKABLE or record.action == _ENDED:
            yield f"drift: {describe_drift(table, record)}"


def describe_drift(table: str, record: DriftRecord) -> str:
    """One difference in one line: what changed, what was decided, who reads it."""
    types = " -> ".join(each for each in (record.before, record.after) if each)
    said = f"`{table}.{record.column}` {record.action.replace('_', ' ')}"
    if types:
        said += f" ({types})"
    if record.days_left is not None:
        said += f", {counted(record.days_left, 'day')} left"
    if record.reaches:
        shown = ", ".join(f"`{each}`" for each in record.reaches[:_REACHES_SHOWN])
        more = len(record.reaches) - _REACHES_SHOWN
        said += f"; reaches {shown}" + (f" and {more} more" if more > 0 else "")
    return said


def _drift_document(report: PipelineResult) -> dict[str, Any]:
    found = list(_drifted(report))
    return {
        "tables_checked": len(report.run.outcomes),
        "tables_drifted": len({table for table, _ in found}),
        "actions_taken": [{"table": table, **record.to_json()} for table, record in found],
    }
