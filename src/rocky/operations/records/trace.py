"""A run's timeline: when each model ran, what it waited for, and the critical path.

From what was recorded of it alone, so a run that died traces too.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rocky.evidence.timeline import Bar, Timeline, longest, timeline_of
from rocky.ledger import LATEST
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelStatus, RunRecord, RunStatus
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.records.outcome_words import outcome_of
from rocky.operations.records.run_lookup import locate_run
from rocky.operations.report import hidden, same_fields
from rocky.operations.workspace import Workspace, known_branch
from rocky.plan.arguments import Count, Request


@dataclass(frozen=True, slots=True)
class TraceRequest(Request):
    """Which run, by its id or the `latest`; with a `limit` only the models that ran longest."""

    run: str = LATEST
    limit: Count | None = None


@dataclass(frozen=True, slots=True)
class LongestWait:
    """The model that waited longest, with all its inputs done."""

    model_name: str
    wait_ms: int


@dataclass(frozen=True, slots=True)
class PathModel:
    """A model of the critical path; the shares are of the run's wall time."""

    model_name: str
    duration_ms: int
    wait_ms: int | None = None
    share: float | None = None
    wait_share: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedModel:
    """A model that ran, in milliseconds since the run began. `inputs` are models of this run.

    Without `ready_offset_ms` what it waited for is not known. Two runs differ by their hashes: of
    the SQL, of logic and settings (`skip_hash`), of these with the inputs, and of the environment.
    """

    model_name: str
    status: ModelStatus
    decision: str | None = None
    outcome: str
    reused_from: RunId | None = None
    lane: int
    start_offset_ms: int
    end_offset_ms: int
    duration_ms: int
    ready_offset_ms: int | None = None
    wait_ms: int | None = None
    inputs: tuple[str, ...]
    critical: bool
    sql_hash: str | None = None
    recipe_hash: str | None = None
    skip_hash: str | None = None
    input_hash: str | None = None
    env_hash: str | None = None
    rows_affected: int | None = None
    bytes_scanned: int | None = None
    bytes_written: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class UnstartedModel:
    """A model that the run did not come to, and why."""

    model_name: str
    status: ModelStatus
    outcome: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TraceReport(Digested):
    """A run laid out in time, models in order of start.

    `run_duration_ms` ends with the last thing recorded when the run has not ended, or died;
    `startup_ms` with the first model to be built. `model_ms` is the models' own times added up,
    `busy_ms` while at least one ran, `parallelism` the one by the other, `longest_chain_ms` the
    most model time in any chain of models that read each other. `critical_path_whole` is False
    when what a model of it waited for is not recorded.
    """

    run: RunRecord = hidden()
    timeline: Timeline = hidden()
    run_id: RunId
    status: RunStatus
    died: bool
    trigger: str
    started_at: datetime
    finished_at: datetime | None = None
    run_duration_ms: int
    startup_ms: int
    model_ms: int
    busy_ms: int
    longest_chain_ms: int
    lane_count: int
    parallelism: float | None = None
    biggest_wait: LongestWait | None = None
    critical_path: tuple[PathModel, ...]
    critical_path_whole: bool
    models: tuple[TracedModel, ...]
    models_left_out: int
    not_started: tuple[UnstartedModel, ...]

    def digest(self) -> Digest:
        critical = ", ".join(each.model_name for each in self.critical_path)
        title = (
            f"{self.run_id}: {self.status.value}, {counts(model=len(self.timeline.bars))} in"
            f" {_seconds(self.run_duration_ms)}"
            + (f"; critical path: {critical}" if critical else "")
        )
        wall = max(self.run_duration_ms, 1)
        rows = [
            (
                f"{each.model_name} *" if each.critical else each.model_name,
                each.outcome,
                _seconds(each.start_offset_ms),
                _seconds(each.wait_ms),
                _seconds(each.duration_ms),
                _bar(each, wall),
            )
            for each in self.models
        ]
        rows += [(each.model_name, each.outcome, "", "", "", "") for each in self.not_started]
        head = ("model (* critical)", "outcome", "began", "waited", "ran", "░ waited █ ran")
        return Digest(title, head, rows, len(rows))


_BAR: Final = 32
"""A bar of a notebook has so many characters."""


def _bar(model: TracedModel, wall: int) -> str:
    """The run from left to right; a notebook drops spaces, so what is nothing is a dot."""
    begun = model.start_offset_ms - (model.wait_ms or 0)
    places = (each * _BAR // wall for each in (begun, model.start_offset_ms, model.end_offset_ms))
    waits, starts, ends = (min(max(each, 0), _BAR - 1) for each in places)
    ends = max(ends, starts + 1)
    return "·" * waits + "░" * (starts - waits) + "█" * (ends - starts) + "·" * (_BAR - ends)


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def trace(workspace: Workspace, request: TraceRequest) -> TraceReport:
    """The timeline of a run. Raises NothingSelected."""
    workspace = known_branch(workspace)
    return trace_run(locate_run(workspace, request.run).run, request.limit)


def trace_run(run: RunRecord, limit: int | None = None) -> TraceReport:
    """The timeline of a run that was read."""
    timeline = timeline_of(run)
    shown = longest(timeline.bars, limit)
    wait = timeline.biggest_wait
    return TraceReport(
        run=run,
        timeline=timeline,
        run_id=run.run_id,
        status=run.status,
        died=run.died,
        trigger=run.trigger,
        started_at=run.started_at,
        finished_at=run.finished_at,
        run_duration_ms=timeline.wall_ms,
        startup_ms=timeline.startup_ms,
        model_ms=timeline.model_ms,
        busy_ms=timeline.busy_ms,
        longest_chain_ms=timeline.longest_chain_ms,
        lane_count=timeline.lanes,
        parallelism=_rounded(timeline.parallelism),
        biggest_wait=LongestWait(wait.name, wait.wait_ms or 0) if wait is not None else None,
        critical_path=tuple(_path_model(each, timeline) for each in timeline.critical_path),
        critical_path_whole=timeline.path_is_whole,
        models=tuple(_model(each, timeline) for each in shown),
        models_left_out=len(timeline.bars) - len(shown),
        not_started=tuple(
            UnstartedModel(each.model_name, each.status, outcome_of(each), each.reason)
            for each in timeline.never_started
        ),
    )


def _path_model(bar: Bar, timeline: Timeline) -> PathModel:
    return PathModel(
        bar.name,
        bar.length_ms,
        bar.wait_ms,
        _rounded(share_of(bar.length_ms, timeline)),
        _rounded(share_of(bar.wait_ms, timeline)),
    )


_WORKED_OUT = frozenset(
    (
        "outcome", "lane", "start_offset_ms", "end_offset_ms", "duration_ms", "ready_offset_ms",
        "wait_ms", "inputs", "critical", "sql_hash",
    )
)  # fmt: skip


def _model(bar: Bar, timeline: Timeline) -> TracedModel:
    return TracedModel(
        outcome=outcome_of(bar.execution),
        lane=bar.lane,
        start_offset_ms=bar.start_ms,
        end_offset_ms=bar.end_ms,
        duration_ms=bar.length_ms,
        ready_offset_ms=bar.ready_ms,
        wait_ms=bar.wait_ms,
        inputs=tuple(timeline.bars[each].name for each in bar.inputs),
        critical=bar.critical,
        sql_hash=bar.execution.sql_hash or None,
        **same_fields(TracedModel, bar.execution, besides=_WORKED_OUT),
    )


def share_of(milliseconds: int | None, timeline: Timeline) -> float | None:
    """A part of the wall time, as a fraction."""
    if milliseconds is None or not timeline.wall_ms:
        return None
    return milliseconds / timeline.wall_ms


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
