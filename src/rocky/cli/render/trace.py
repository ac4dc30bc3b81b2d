"""A run's timeline: bars under a time axis, what was waited for, and the critical path."""

from collections.abc import Sequence
from typing import Any, Final

from rocky.cli.render.bars import Canvas, draw_bars
from rocky.cli.render.compilation import counted
from rocky.cli.render.history import describe_status, outcome_of
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import NOTHING, format_duration
from rocky.evidence.timeline import Bar, Timeline, longest
from rocky.ledger.run_records import ModelExecution, RunRecord

SHOWN: Final = 50
"""Bars that a terminal shows unless it is told otherwise."""


def render_trace(run: RunRecord, timeline: Timeline, limit: int | None, canvas: Canvas) -> str:
    """The timeline for people: bars, models that never started, totals, the critical path."""
    parts = [_describe_run(run, timeline)]
    if timeline.bars:
        shown = longest(timeline.bars, limit)
        parts.append(draw_bars(timeline, shown, canvas))
    if timeline.never_started:
        parts.append(_list_never_started(timeline.never_started, limit, canvas))
    if timeline.bars:
        parts.append(_render_totals(timeline, canvas))
    if any(bar.length_ms for bar in timeline.critical_path):
        parts.append(_render_path(timeline, limit, canvas))
    return "\n\n".join(parts)


def _describe_run(run: RunRecord, timeline: Timeline) -> str:
    count = counted(len(run.models_executed), "model")
    took = format_duration(timeline.wall_ms)
    said = f"{run.run_id}: {describe_status(run)}, {count}"
    if run.finished_at is not None:
        return f"{said} in {took}"
    return f"{said}, the last ended after {took}" if timeline.bars else said


def _list_never_started(
    executions: Sequence[ModelExecution], limit: int | None, canvas: Canvas
) -> str:
    shown = executions if limit is None else executions[:limit]
    lines = [f"did not start: {counted(len(executions), 'model')}"]
    for each in shown:
        why = f": {each.reason}" if each.reason else ""
        lines.append(f"  {canvas.name(each.model_name)}  {outcome_of(each)}{why}")
    if len(shown) < len(executions):
        lines.append(f"  and {len(executions) - len(shown):,} more")
    return "\n".join(lines)


def _render_totals(timeline: Timeline, canvas: Canvas) -> str:
    lanes = counted(timeline.lanes, "lane")
    at_a_time = timeline.parallelism
    spread = f"in {lanes}" + (f", {at_a_time:.1f} at a time" if at_a_time is not None else "")
    wait = timeline.biggest_wait
    rows = [
        ("wall time", format_duration(timeline.wall_ms), _describe_startup(timeline)),
        ("model time", format_duration(timeline.model_ms), spread),
        (
            "longest chain",
            format_duration(timeline.longest_chain_ms),
            "the least that any number of lanes could take",
        ),
        (
            "biggest wait",
            format_duration(wait.wait_ms) if wait is not None else NOTHING,
            f"`{canvas.name(wait.name)}`, with all its inputs done"
            if wait is not None
            else "no model waited",
        ),
    ]
    return "\n".join(
        f"{name:<13}  {amount:>11}  {what}".rstrip() for name, amount, what in rows
    )  # fmt: skip


def _describe_startup(timeline: Timeline) -> str:
    if not timeline.startup_ms:
        return ""
    first = "model was built" if timeline.has_built else "model was found built"
    return f"of which {format_duration(timeline.startup_ms)} before the first {first}"


def _render_path(timeline: Timeline, limit: int | None, canvas: Canvas) -> str:
    path = timeline.critical_path
    shown = longest(path, limit)
    ran = sum(each.length_ms for each in path)
    title = f"critical path: {counted(len(path), 'model')}, {format_duration(ran)}"
    if timeline.path_wait_ms:
        title += f", and {format_duration(timeline.path_wait_ms)} of waiting"
    table = render_table(
        ("MODEL", "WAITED", "RAN", "OF WALL TIME"),
        [
            (
                canvas.name(bar.name),
                format_duration(bar.wait_ms),
                format_duration(bar.length_ms),
                format_share(share_of(bar.length_ms, timeline)),
            )
            for bar in shown
        ],
        {1, 2, 3},
    )
    left_out = len(path) - len(shown)
    lines = [title, table]
    if left_out:
        lines.append(f"{counted(left_out, 'shorter model')} left out")
    unsure = [canvas.name(bar.name) for bar in path if bar.ready_ms is None]
    if unsure:
        lines.append(f"what `{unsure[-1]}` waited for is not recorded: the path may be another")
    return "\n".join(lines)


def share_of(milliseconds: int, timeline: Timeline) -> float | None:
    """A part of the wall time, as a fraction."""
    return milliseconds / timeline.wall_ms if timeline.wall_ms else None


def format_share(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.0%}"


def trace_document(run: RunRecord, timeline: Timeline, limit: int | None) -> dict[str, Any]:
    """What `rocky trace -o json` prints: all numbers, times in milliseconds since the start."""
    whole = run.to_json()
    shown = longest(timeline.bars, limit)
    wait = timeline.biggest_wait
    return _known(
        {
            "run_id": run.run_id,
            "status": run.status.value,
            "died": run.died,
            "trigger": run.trigger,
            "started_at": whole["started_at"],
            "finished_at": whole.get("finished_at"),
            "run_duration_ms": timeline.wall_ms,
            "startup_ms": timeline.startup_ms,
            "model_ms": timeline.model_ms,
            "busy_ms": timeline.busy_ms,
            "longest_chain_ms": timeline.longest_chain_ms,
            "lane_count": timeline.lanes,
            "parallelism": _rounded(timeline.parallelism),
            "biggest_wait": None
            if wait is None
            else {"model_name": wait.name, "wait_ms": wait.wait_ms},
            "critical_path": [_path_model(bar, timeline) for bar in timeline.critical_path],
            "critical_path_whole": timeline.path_is_whole,
            "models": [_model(bar, timeline) for bar in shown],
            "models_left_out": len(timeline.bars) - len(shown),
            "not_started": [
                _known(
                    {
                        "model_name": each.model_name,
                        "status": each.status.value,
                        "outcome": outcome_of(each),
                        "reason": each.reason,
                    }
                )
                for each in timeline.never_started
            ],
        }
    )


def _path_model(bar: Bar, timeline: Timeline) -> dict[str, Any]:
    return _known(
        {
            "model_name": bar.name,
            "duration_ms": bar.length_ms,
            "wait_ms": bar.wait_ms,
            "share": _rounded(share_of(bar.length_ms, timeline)),
            "wait_share": _rounded(
                share_of(bar.wait_ms, timeline) if bar.wait_ms is not None else None
            ),
        }
    )


def _model(bar: Bar, timeline: Timeline) -> dict[str, Any]:
    execution = bar.execution
    return _known(
        {
            "model_name": bar.name,
            "status": execution.status.value,
            "decision": execution.decision,
            "outcome": outcome_of(execution),
            "reused_from": execution.reused_from,
            "lane": bar.lane,
            "start_offset_ms": bar.start_ms,
            "end_offset_ms": bar.end_ms,
            "duration_ms": bar.length_ms,
            "ready_offset_ms": bar.ready_ms,
            "wait_ms": bar.wait_ms,
            "inputs": [timeline.bars[each].name for each in bar.inputs],
            "critical": bar.critical,
            "sql_hash": execution.sql_hash or None,
            "recipe_hash": execution.recipe_hash,
            "rows_affected": execution.rows_affected,
            "bytes_scanned": execution.bytes_scanned,
            "bytes_written": execution.bytes_written,
            "error": execution.error,
        }
    )


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _known(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value is not None}
