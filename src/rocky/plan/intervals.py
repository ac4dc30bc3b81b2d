"""Intervals: the partitions of a time-interval model, and which of them a run is asked to build.

A partition is known by its key, a time of UTC as short as its granularity allows. Arithmetic is of
the calendar: a month is a month, whatever its length. The ledger is asked only for what is missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from rocky.errors import NothingSelected, RockyError
from rocky.language.datatypes.types import DataType
from rocky.ledger.readers.history import HistoryReader
from rocky.ledger.run_records import PartitionStatus
from rocky.ledger.writer import Ledger
from rocky.plan.request import Window
from rocky.plan.steps import RunPlan
from rocky.project.configuration.strategies import Grain, TimeInterval
from rocky.project.models import Target

_FORMATS: Final[dict[Grain, str]] = {
    "hour": "%Y-%m-%dT%H",
    "day": "%Y-%m-%d",
    "month": "%Y-%m",
    "year": "%Y",
}
_EXAMPLES: Final[dict[Grain, str]] = {
    "hour": "2024-05-01T13",
    "day": "2024-05-01",
    "month": "2024-05",
    "year": "2024",
}
_LITERALS: Final = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ"}


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """The times from `start` up to, not including, `end`, both of UTC."""

    start: datetime
    end: datetime

    def texts(self, grain: Grain) -> tuple[str, str]:
        """Both ends as they stand in a query."""
        return _text(self.start, grain), _text(self.end, grain)

    def holds(self, expression: str, kind: DataType) -> str:
        """The condition that a column's value lies in the interval."""
        low, high = (time_literal(each, kind) for each in (self.start, self.end))
        return f"({expression} >= {low} AND {expression} < {high})"


def time_literal(at: datetime, kind: DataType) -> str:
    """A time as a literal of a column's type."""
    name = _LITERALS[kind.kind]
    if kind.kind == "date":
        return f"{name} '{_day(at)}'"
    zone = "+00:00" if kind.kind == "timestamp" else ""
    return f"{name} '{_day(at)} {at:%H:%M:%S}{zone}'"


def interval_of(key: str, grain: Grain) -> Interval:
    """The interval of a key. Raises RockyError for a text that is none."""
    try:
        start = datetime.strptime(key, _FORMATS[grain]).replace(tzinfo=UTC)
    except ValueError:
        start = None
    if start is None or key_of(start, grain) != key:
        raise RockyError(
            f"`{key}` is not a partition of one {grain}; write it like `{_EXAMPLES[grain]}`"
        )
    try:
        return Interval(start, _next(start, grain))
    except (OverflowError, ValueError):
        raise RockyError(f"`{key}` has no end: the years go up to 9999") from None


def key_of(at: datetime, grain: Grain) -> str:
    """The key of the partition that a time lies in."""
    at = at.astimezone(UTC)
    length = len(_EXAMPLES[grain])
    return f"{_day(at)}T{at:%H}"[:length]


def keys_between(first: str, last: str, grain: Grain) -> Iterator[str]:
    """All keys from one to another, both included."""
    at, end = interval_of(first, grain).start, interval_of(last, grain).start
    while at <= end:
        yield key_of(at, grain)
        at = _next(at, grain)


def select_keys(strategy: TimeInterval, window: Window, now: datetime) -> list[str]:
    """The keys to build, in order. Raises RockyError when the window cannot be understood."""
    grain = strategy.granularity
    current = key_of(now, grain)
    if window.partition is not None:
        interval_of(window.partition, grain)
        chosen = [window.partition]
    elif window.start is not None or window.end is not None:
        start = window.start or _first(strategy, "a window without a start")
        end = window.end or current
        chosen = list(keys_between(start, end, grain))
        if not chosen:
            raise RockyError(f"there is no {grain} from `{start}` to `{end}`: the end comes first")
    elif window.missing:
        expected = keys_between(_first(strategy, "looking for what is missing"), current, grain)
        chosen = [key for key in expected if key not in window.recorded]
    else:
        chosen = [current]
    lookback = strategy.lookback if window.lookback is None else window.lookback
    return _looking_back(chosen, lookback, strategy)


def all_keys(strategy: TimeInterval, now: datetime) -> list[str]:
    """Every key up to now."""
    first = _first(strategy, "a full refresh")
    return list(keys_between(first, key_of(now, strategy.granularity), strategy.granularity))


def batches(keys: Sequence[str], size: int, grain: Grain) -> list[list[str]]:
    """The keys in runs of neighbours, each at most `size` long."""
    found: list[list[str]] = []
    gaps = {
        after
        for before, after in pairwise(keys)
        if interval_of(before, grain).end != interval_of(after, grain).start
    }
    for key in keys:
        if not found or len(found[-1]) == size or key in gaps:
            found.append([])
        found[-1].append(key)
    return found


def span_of(keys: Iterable[str], grain: Grain) -> Interval:
    """The interval that neighbouring keys cover together."""
    intervals = [interval_of(key, grain) for key in keys]
    return Interval(intervals[0].start, intervals[-1].end)


def _first(strategy: TimeInterval, purpose: str) -> str:
    if strategy.first_partition is None:
        raise RockyError(f"{purpose} needs `first_partition` in the model's [strategy]")
    return strategy.first_partition


def _looking_back(chosen: list[str], lookback: int, strategy: TimeInterval) -> list[str]:
    """The keys with as many before the earliest, but none before the first partition."""
    if not chosen:
        return []
    grain = strategy.granularity
    found = sorted(set(chosen))
    earlier: list[str] = []
    at = interval_of(found[0], grain).start
    while len(earlier) < lookback and at > _EARLIEST:
        at = interval_of(key_of(at - timedelta(seconds=1), grain), grain).start
        key = key_of(at, grain)
        if strategy.first_partition is not None and key < strategy.first_partition:
            break
        earlier.append(key)
    return [*reversed(earlier), *found]


_EARLIEST: Final = datetime(1, 1, 1, tzinfo=UTC)


def _next(at: datetime, grain: Grain) -> datetime:
    if grain == "hour":
        return at + timedelta(hours=1)
    if grain == "day":
        return at + timedelta(days=1)
    if grain == "month":
        return at.replace(year=at.year + at.month // 12, month=at.month % 12 + 1)
    return at.replace(year=at.year + 1)


def _text(at: datetime, grain: Grain) -> str:
    return f"{_day(at)} {at:%H:%M:%S}" if grain == "hour" else _day(at)


def _day(at: datetime) -> str:
    # strftime leaves out leading zeros of years on some platforms.
    return f"{at.year:04d}-{at.month:02d}-{at.day:02d}"


IsThere = Callable[[Target], bool]
"""Whether a table is where it was built."""


def windows_of(
    plan: RunPlan, window: Window, ledger: Ledger, now: datetime, is_there: IsThere
) -> dict[str, Window]:
    """The window of every time-interval model, by key. Raises as `find_windows`."""
    with ledger.reader() as reader:
        return find_windows(plan, window, reader, now, is_there)


def find_windows(
    plan: RunPlan, window: Window, reader: HistoryReader | None, now: datetime, is_there: IsThere
) -> dict[str, Window]:
    """The window of every time-interval model, by key. Without a reader nothing was recorded yet.

    Of a table that is gone nothing is computed, whatever was recorded.

    Raises NothingSelected when one was asked for and no selected model has time intervals, and
    RockyError for a key that is none of a model's: before Spark starts.
    """
    found: dict[str, Window] = {}
    for key, strategy in _strategies(plan).items():
        model = plan.project.models[key]
        recorded = () if reader is None else reader.partitions(model.name)
        if window.missing and recorded and not is_there(model.target):
            recorded = ()
        computed = frozenset(
            each.partition_key for each in recorded if each.status is PartitionStatus.COMPUTED
        )
        found[key] = replace(window, recorded=computed)
        select_keys(strategy, found[key], now)
    if not found and window != Window():
        raise NothingSelected(
            "time intervals were asked for, and no selected model has the strategy `time_interval`"
        )
    return found


def intervals_of(
    plan: RunPlan, windows: Mapping[str, Window], now: datetime
) -> dict[str, list[str]]:
    """The time intervals that are built in these windows, by the name of their model."""
    models = plan.project.models
    return {
        models[key].name: select_keys(strategy, windows[key], now)
        for key, strategy in _strategies(plan).items()
        if key in windows
    }


def _strategies(plan: RunPlan) -> dict[str, TimeInterval]:
    """The selected models that have time intervals."""
    found = {
        step.key: plan.project.models[step.key].strategy
        for step in plan.selected
        if step.kind == "build"
    }
    return {key: each for key, each in found.items() if isinstance(each, TimeInterval)}
