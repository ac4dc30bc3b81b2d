"""What a replication would do and how its source has changed: tables and JSON documents."""

from collections.abc import Sequence
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.pipelines import describe_drift
from rocky.cli.render.tables import render_table
from rocky.pipelines.replication.plan import ReplicationPlan
from rocky.pipelines.replication.preview import CopyPreview

_LISTED_AT_MOST: Final = 20
_LEAVE: Final = "leave"


def render_prospects(plan: ReplicationPlan, prospects: Sequence[CopyPreview]) -> str:
    """A table of what would be done, the drift that decides it, and a last line."""
    listed = [each for each in prospects if each.decision != _LEAVE]
    if len(prospects) <= _LISTED_AT_MOST:
        listed = list(prospects)
    rows = [(each.table, each.decision, each.reason) for each in listed]
    parts = [render_table(("TABLE", "DECISION", "REASON"), rows, set())] if rows else []
    parts += [f"drift: {line}" for line in drift_lines(prospects)]
    parts += [f"error: {name}: {why}" for name, why in plan.failed.items()]
    counts: dict[str, int] = {}
    for each in prospects:
        counts[each.decision] = counts.get(each.decision, 0) + 1
    said = ", ".join(f"{count} to {decision}" for decision, count in counts.items())
    return "\n".join([*parts, said or "nothing to do"])


def prospects_document(plan: ReplicationPlan, prospects: Sequence[CopyPreview]) -> dict[str, Any]:
    """What `rocky plan -o json` prints of a replication."""
    return {
        "tables": [_document(each) for each in prospects],
        "failed_sources": plan.failed,
        "warnings": list(plan.warnings),
    }


def drift_lines(prospects: Sequence[CopyPreview]) -> list[str]:
    """Each difference in a line."""
    return [describe_drift(each.table, record) for each in prospects for record in each.drift]


def render_drift(plan: ReplicationPlan, prospects: Sequence[CopyPreview]) -> str:
    """What has changed in a source since it was copied."""
    lines = drift_lines(prospects)
    lines += [
        f"error: {each.table}: {each.reason}" for each in prospects if each.decision == "fail"
    ]
    lines += [f"error: {name}: {why}" for name, why in plan.failed.items()]
    drifted = sum(bool(each.drift) for each in prospects)
    looked = sum(each.decision != _LEAVE for each in prospects)
    return "\n".join([*lines, f"{counted(looked, 'table')} looked at, {drifted} drifted"])


def drift_document(plan: ReplicationPlan, prospects: Sequence[CopyPreview]) -> dict[str, Any]:
    """What `rocky drift -o json` prints of one pipeline."""
    return {
        "tables_checked": sum(each.decision != _LEAVE for each in prospects),
        "tables_drifted": sum(bool(each.drift) for each in prospects),
        "actions": [
            {"table": each.table, **record.to_json()} for each in prospects for record in each.drift
        ],
        "errors": {
            **plan.failed,
            **{each.table: each.reason for each in prospects if each.decision == "fail"},
        },
        "warnings": list(plan.warnings),
    }


def _document(prospect: CopyPreview) -> dict[str, Any]:
    return {
        "table": prospect.table,
        "source": prospect.source,
        "decision": prospect.decision,
        "reason": prospect.reason,
        "drift": [record.to_json() for record in prospect.drift],
    }
