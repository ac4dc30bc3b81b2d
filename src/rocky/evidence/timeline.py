"""Timelines: when each model of a run ran, beside which others, and what it waited for.

Pure arithmetic over a `RunRecord`, in milliseconds since the run began. A model waits from the
moment the last of its inputs is done, but not before the first model was built: what Spark takes to
start is nobody's wait. A model that failed has no recorded inputs: how long it waited is not known,
which is not the same as not at all. What is found built waits for nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from rocky.ledger.run_records import InputRecord, ModelExecution, ModelStatus, RunRecord

_MILLISECOND: Final = timedelta(milliseconds=1)
_INPUTS_UNKNOWN: Final = frozenset({ModelStatus.FAILED, ModelStatus.INTERRUPTED})
_FOUND: Final = frozenset({ModelStatus.REUSED, ModelStatus.SKIPPED})
_LEFT: Final = frozenset({"skip", "hold"})


@dataclass(frozen=True, slots=True)
class Bar:
    """A model from its start to its end. `ready_ms` is None when its inputs are not known.

    `inputs` are the places, in the timeline's `bars`, of what it read and this run did.
    """

    execution: ModelExecution
    start_ms: int
    end_ms: int
    lane: int = 0
    ready_ms: int | None = None
    inputs: tuple[int, ...] = ()
    critical: bool = False

    @property
    def name(self) -> str:
        return self.execution.model_name

    @property
    def length_ms(self) -> int:
        return self.end_ms - self.start_ms

    @property
    def wait_ms(self) -> int | None:
        """How long it could have run and did not."""
        return None if self.ready_ms is None else self.start_ms - self.ready_ms


@dataclass(frozen=True, slots=True)
class Timeline:
    """A run laid out in time. `bars` are in order of start; lanes are numbered from 1.

    `wall_ms` ends with the last thing recorded when the run itself has not ended, or died;
    `startup_ms` with the first model to be built, for what is found built already needs no Spark.
    `never_started` are models that were withheld, or that an interrupted run did not come to.
    `critical_path` goes from the model that ended last back through the input each waited for
    longest, and is in the order in which they ran. `longest_chain_ms` is the most model time that
    any chain of inputs took: no number of lanes would have made it shorter.
    """

    bars: tuple[Bar, ...]
    never_started: tuple[ModelExecution, ...]
    lanes: int
    wall_ms: int
    startup_ms: int
    model_ms: int
    busy_ms: int
    critical_path: tuple[Bar, ...]
    longest_chain_ms: int

    @property
    def has_built(self) -> bool:
        """Whether any model was built, or it was tried: not all were found built."""
        return any(each.execution.status not in _FOUND for each in self.bars)

    @property
    def parallelism(self) -> float | None:
        """How many models ran at a time, on average, while any did."""
        return self.model_ms / self.busy_ms if self.busy_ms else None

    @property
    def biggest_wait(self) -> Bar | None:
        """The model that waited longest; None when none is known to have waited."""
        waited = [each for each in self.bars if each.wait_ms]
        return max(waited, key=lambda each: each.wait_ms or 0, default=None)

    @property
    def path_is_whole(self) -> bool:
        """Whether what each model of the critical path waited for is known."""
        return all(each.ready_ms is not None for each in self.critical_path)

    @property
    def path_wait_ms(self) -> int:
        """What the models of the critical path waited, together."""
        return sum(each.wait_ms or 0 for each in self.critical_path)


def timeline_of(run: RunRecord) -> Timeline:
    """A run laid out in time, whether or not it has ended."""
    started = [each for each in run.models_executed if has_started(each)]
    placed = _place(started, run.started_at)
    startup = _startup_ms(placed)
    bars = _read_inputs(placed, startup)
    path = _critical_path(bars)
    bars = tuple(replace(bar, critical=place in path) for place, bar in enumerate(bars))
    ends = [each.end_ms for each in bars]
    if run.finished_at is not None:
        ends.append(_offset(run.finished_at, run.started_at))
    return Timeline(
        bars,
        tuple(each for each in run.models_executed if not has_started(each)),
        max((each.lane for each in bars), default=0),
        max(ends, default=0),
        startup,
        sum(each.length_ms for each in bars),
        _busy_ms(bars),
        tuple(bars[place] for place in path),
        _longest_chain_ms(bars),
    )


def has_started(execution: ModelExecution) -> bool:
    """Whether the run came to the model, be it to find that nothing had to be done."""
    return execution.decision not in _LEFT and (
        execution.status is not ModelStatus.SKIPPED or execution.decision is not None
    )


def longest(bars: Iterable[Bar], limit: int | None) -> tuple[Bar, ...]:
    """The bars that ran longest, at most so many, in the order given."""
    given = tuple(bars)
    if limit is None or len(given) <= limit:
        return given
    chosen = sorted(range(len(given)), key=lambda place: (-given[place].length_ms, place))[:limit]
    return tuple(given[place] for place in sorted(chosen))


def _offset(moment: datetime, origin: datetime) -> int:
    # A clock that was set back must not put a model before its run.
    return max(0, (moment - origin) // _MILLISECOND)


def _place(executions: Iterable[ModelExecution], origin: datetime) -> tuple[Bar, ...]:
    """Bars in order of start, each in the first lane that is free by then."""
    loose = []
    for each in executions:
        start = _offset(each.started_at, origin)
        loose.append(Bar(each, start, max(start, _offset(each.finished_at, origin))))
    loose.sort(key=lambda bar: (bar.start_ms, bar.end_ms, bar.name))
    free_from: list[int] = []
    placed = []
    for bar in loose:
        free = (lane for lane, end in enumerate(free_from) if end <= bar.start_ms)
        lane = next(free, len(free_from))
        if lane == len(free_from):
            free_from.append(0)
        free_from[lane] = bar.end_ms
        placed.append(replace(bar, lane=lane + 1))
    return tuple(placed)


def _startup_ms(bars: Sequence[Bar]) -> int:
    built = (bar.start_ms for bar in bars if bar.execution.status not in _FOUND)
    return next(built, bars[0].start_ms if bars else 0)


def _read_inputs(bars: Sequence[Bar], startup_ms: int) -> tuple[Bar, ...]:
    """Bars with what they read of each other, and since when they could have run."""
    targets = {
        bar.execution.target.lower(): place
        for place, bar in enumerate(bars)
        if bar.execution.target is not None
    }
    names = {bar.name.lower(): place for place, bar in enumerate(bars)}
    read = []
    for place, bar in enumerate(bars):
        found = [_place_of(each, targets, names) for each in bar.execution.inputs]
        inputs = tuple(dict.fromkeys(each for each in found if each is not None and each != place))
        done = max((startup_ms, *(bars[each].end_ms for each in inputs)))
        ready: int | None = min(bar.start_ms, done)
        if bar.execution.status in _FOUND:
            # It is decided on when its turn comes and needs no place to wait for.
            ready = bar.start_ms
        elif not _knows_inputs(bar.execution, found):
            ready = None
        read.append(replace(bar, inputs=inputs, ready_ms=ready))
    return tuple(read)


def _knows_inputs(execution: ModelExecution, found: Sequence[int | None]) -> bool:
    if not execution.inputs:
        return execution.status not in _INPUTS_UNKNOWN
    # A query that stands for a table and was not selected is read and not recorded itself: what
    # it reads, and so what its readers waited for, is not known.
    return not any(
        place is None and read.target is not None and read.version is None and read.uri is None
        for read, place in zip(execution.inputs, found, strict=True)
    )


def _place_of(
    read: InputRecord, targets: Mapping[str, int], names: Mapping[str, int]
) -> int | None:
    # A seed and a model may share a name but not a table; a source may be called like a model.
    if read.target is not None and read.target.lower() in targets:
        return targets[read.target.lower()]
    return names.get(read.name.lower()) if read.uri is None else None


def _critical_path(bars: Sequence[Bar]) -> tuple[int, ...]:
    """Places, first to last."""
    if not bars:
        return ()
    place = max(range(len(bars)), key=lambda each: (bars[each].end_ms, bars[each].start_ms))
    path = [place]
    while bars[place].inputs:
        place = max(bars[place].inputs, key=lambda each: (bars[each].end_ms, bars[each].start_ms))
        if place in path:
            # Models cannot read each other in a circle; a record may say so all the same.
            break
        path.append(place)
    return tuple(reversed(path))


def _longest_chain_ms(bars: Sequence[Bar]) -> int:
    chains: dict[int, int] = {}
    for place in sorted(range(len(bars)), key=lambda each: (bars[each].end_ms, each)):
        before = max((chains.get(each, 0) for each in bars[place].inputs), default=0)
        chains[place] = before + bars[place].length_ms
    return max(chains.values(), default=0)


def _busy_ms(bars: Iterable[Bar]) -> int:
    """How long at least one model ran. The bars are in order of start."""
    busy, until = 0, 0
    for bar in bars:
        busy += max(0, bar.end_ms - max(until, bar.start_ms))
        until = max(until, bar.end_ms)
    return busy
