"""What a sweep forgot, as text for people and as a JSON document."""

from typing import Any

from rocky.cli.render.compilation import counted
from rocky.cli.render.units import format_count, format_moment
from rocky.evidence.retention.sweep import SweepReport
from rocky.ledger.record import format_time
from rocky.project.configuration.blocks import StateRetention

_MANY = 20


def sweep_document(report: SweepReport, rules: StateRetention) -> dict[str, Any]:
    """What `rocky state retention sweep -o json` prints."""
    return {
        "dry_run": report.dry_run,
        "at": format_time(report.at),
        "cutoff": format_time(report.cutoff),
        "max_age_days": rules.max_age_days,
        "min_runs_kept": rules.min_runs_kept,
        "applies_to": list(rules.applies_to),
        "runs": list(report.runs),
        "removed": dict(sorted(report.removed.items())),
        "kept": {why.name.lower(): number for why, number in sorted(report.kept.items())},
        "duration_ms": report.duration_ms,
    }


def render_sweep(report: SweepReport, rules: StateRetention) -> str:
    """What went, and why the rest of what is old enough stays."""
    verb = "would forget" if report.dry_run else "forgot"
    since = f"from before {format_moment(report.cutoff)} UTC"
    lines = [f"{verb} {counted(len(report.runs), 'run')} {since}"]
    lines += [f"  {run_id}" for run_id in report.runs[:_MANY]]
    if len(report.runs) > _MANY:
        lines.append(f"  and {format_count(len(report.runs) - _MANY)} more")
    if report.removed:
        rows = (f"{format_count(number)} of `{table}`" for table, number in report.removed.items())
        lines.append(f"rows {'to remove' if report.dry_run else 'removed'}: {', '.join(rows)}")
    for why, number in sorted(report.kept.items()):
        lines.append(f"kept {counted(number, 'older run')}: {why.value}")
    if not rules.applies_to:
        lines.append("`[state.retention] applies_to` is empty: no run is ever forgotten")
    return "\n".join(lines)
