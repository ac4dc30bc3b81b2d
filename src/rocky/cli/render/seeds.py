"""Loaded seeds as a table for people and as a JSON document."""

from collections.abc import Mapping
from typing import Any, Final

from rocky.cli.render.tables import render_table
from rocky.cli.render.units import format_bytes, format_count, format_duration
from rocky.ledger.record import format_time
from rocky.ledger.run_records import ModelStatus
from rocky.run.materialize.seeds import UNCHANGED
from rocky.run.outcomes import RunResult, StepOutcome

_KEYS: Final = (
    "name",
    "target",
    "status",
    "rows",
    "files",
    "bytes_written",
    "rows_hash",
    "commit_version",
    "duration_ms",
    "error",
)
_HEAD: Final = ("SEED", "TABLE", "STATUS", "ROWS", "WRITTEN", "TIME")


def render_seeds(report: RunResult) -> str:
    """A row a seed, what failed, and a last line."""
    rows = [_cells(each) for each in report.outcomes]
    failures = [each for each in report.outcomes if each.execution.error]
    said = [f"error: {each.step.name}: {each.execution.error}" for each in failures]
    counts = [f"{_count(report, word)} {word}" for word in ("loaded", "unchanged", "failed")]
    last = f"{report.run_id}: {', '.join(each for each in counts if not each.startswith('0 '))}"
    return "\n".join([render_table(_HEAD, rows, {3, 4, 5}), *said, last])


def render_unchanged(targets: Mapping[str, str]) -> str:
    """What is said when there is nothing to load; `targets` are tables by seed."""
    listed = ", ".join(f"`{name}`" for name in targets)
    return f"nothing to load: {listed} unchanged"


def unchanged_document(targets: Mapping[str, str]) -> dict[str, Any]:
    """The document of a command that found nothing to load, and so started no run."""
    return {
        "run_id": None,
        "status": "Success",
        "started_at": None,
        "finished_at": None,
        "duration_ms": 0,
        "seeds": [
            dict.fromkeys(_KEYS)
            | {"name": name, "target": target, "status": "unchanged"}
            | {"duration_ms": 0}
            for name, target in targets.items()
        ],
        "summary": {"loaded": 0, "unchanged": len(targets), "failed": 0, "interrupted": 0},
    }


def seeds_document(report: RunResult) -> dict[str, Any]:
    """What `rocky seed -o json` prints."""
    return {
        "run_id": report.run_id,
        "status": report.status.value,
        "started_at": format_time(report.started_at),
        "finished_at": format_time(report.finished_at),
        "duration_ms": report.totals.duration_ms,
        "seeds": [_document(each) for each in report.outcomes],
        "summary": {
            word: _count(report, word) for word in ("loaded", "unchanged", "failed", "interrupted")
        },
    }


def _count(report: RunResult, word: str) -> int:
    return sum(status_word(each) == word for each in report.outcomes)


def status_word(outcome: StepOutcome) -> str:
    """How a seed ended, in one word."""
    execution = outcome.execution
    if execution.status is ModelStatus.SUCCESS:
        return "unchanged" if execution.action == UNCHANGED else "loaded"
    return "interrupted" if execution.status is ModelStatus.INTERRUPTED else "failed"


def _cells(outcome: StepOutcome) -> tuple[str, ...]:
    execution, word = outcome.execution, status_word(outcome)
    loaded = word == "loaded"
    return (
        outcome.step.name,
        execution.target or "",
        word,
        format_count(execution.rows_affected if loaded else None),
        format_bytes(execution.bytes_written if loaded else None),
        format_duration(execution.duration_ms),
    )


def _document(outcome: StepOutcome) -> dict[str, Any]:
    execution, word = outcome.execution, status_word(outcome)
    return {
        "name": outcome.step.name,
        "target": execution.target,
        "status": word,
        "rows": execution.rows_affected if word == "loaded" else None,
        "files": execution.files if word == "loaded" else None,
        "bytes_written": execution.bytes_written if word == "loaded" else None,
        "rows_hash": execution.rows_hash,
        "commit_version": execution.commit_version,
        "duration_ms": execution.duration_ms,
        "error": execution.error,
    }
