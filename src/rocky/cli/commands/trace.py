"""`rocky trace`: a run's timeline, as bars under a time axis and a table of the critical path."""

from collections.abc import Sequence
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.bars import Canvas, draw_bars
from rocky.cli.render.history import describe_status, describe_unchanged
from rocky.cli.render.tables import (
    NOTHING,
    format_duration,
    render_table,
    shows_blocks,
    terminal_width,
)
from rocky.diagnostics.render import counted
from rocky.evidence.timeline import Timeline, longest
from rocky.ledger import LATEST
from rocky.ledger.run_records import ModelExecution, RunRecord
from rocky.operations.records.outcome_words import outcome_of
from rocky.operations.records.trace import TraceReport, TraceRequest, share_of, trace

REPORTS: Final = {"trace": TraceReport}
_SHOWN: Final = 50
"""Bars that a terminal shows unless it is told otherwise."""
_PIPED_WIDTH: Final = 80


@click.command("trace", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Only the N models that ran longest. Default: {_SHOWN} in a table, all in JSON.",
)
@click.pass_obj
def command(settings: Settings, run: str, limit: int | None) -> ExitCode:
    """Show when each model of a run ran, and what it waited for.

    RUN is a run's id or the beginning of one; without it, the latest.
    """
    report = trace(settings.workspace, TraceRequest(run, limit))
    if settings.json:
        write_report("trace", report)
    else:
        canvas = Canvas(terminal_width() or _PIPED_WIDTH, shows_blocks(), settings.colour)
        write_line(render_trace(report, limit or _SHOWN, canvas))
    return ExitCode.OK


def render_trace(report: TraceReport, limit: int | None, canvas: Canvas) -> str:
    """The timeline for people: bars, models that never started, totals, the critical path."""
    timeline, looked = report.timeline, report.run.unchanged_since
    parts = [_describe_run(report.run, timeline)]
    if looked is not None:
        # Nothing was done that took any time.
        return f"{parts[0]}: {describe_unchanged(looked)}; `rocky trace {looked}` shows that run"
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
                _format_share(share_of(bar.length_ms, timeline)),
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


def _format_share(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.0%}"
