"""Backfill: which time intervals of a model between two times are to be computed again. Pure.

An interval is done when it was computed by the code that the model has now, and after what it reads
between the same times was; of a table that is built whole, when it last changed. So a backfill that
was stopped goes on where it was, by what is recorded, and one after a change of the code begins
anew.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from rocky.ledger.run_records import PartitionRecord, PartitionStatus
from rocky.plan.intervals import Interval, batches, interval_of, key_of, keys_between
from rocky.project.configuration.strategies import Grain, TimeInterval

_BATCHES_A_RUN: Final = 16
"""So much is computed before it is recorded, and lost when the process is killed before."""
_MOMENT: Final = timedelta(microseconds=1)


def span_between(first: str, last: str, grain: Grain) -> Interval:
    """The time from one key to another, both included. Raises RockyError for what is no key."""
    return Interval(interval_of(first, grain).start, interval_of(last, grain).end)


def keys_in(span: Interval, grain: Grain) -> list[str]:
    """The keys of a granularity that have a part in a span."""
    last = key_of(span.end - _MOMENT, grain)
    return list(keys_between(key_of(span.start, grain), last, grain))


class Recorded(Protocol):
    """What is recorded of something that intervals are computed from."""

    def newest(self, span: Interval) -> str:
        """The newest run that has changed something in a span; empty for none."""


@dataclass(frozen=True, slots=True)
class WholeTable:
    """A table that is built whole: a run that changes it changes every span."""

    changed_by: str

    def newest(self, _span: Interval) -> str:
        return self.changed_by


@dataclass(frozen=True, slots=True)
class ComputedIntervals:
    """What is recorded of a model's intervals, and the hash of the code of each run that made one.

    `codes` are by run; a run whose code is not known has computed nothing that counts.
    """

    grain: Grain
    records: Mapping[str, PartitionRecord]
    codes: Mapping[str, str | None]

    def is_done(self, key: str, code: str, reads: Iterable[Recorded]) -> bool:
        """Whether an interval was computed by some code, after all that it reads."""
        record = self.records.get(key)
        if record is None or record.status is not PartitionStatus.COMPUTED:
            return False
        if self.codes.get(record.run_id) != code:
            return False
        span = interval_of(key, self.grain)
        # Ids sort as the runs began.
        return all(each.newest(span) <= record.run_id for each in reads)

    def newest(self, span: Interval) -> str:
        found = (self.records.get(key) for key in keys_in(span, self.grain))
        return max((each.run_id for each in found if each is not None), default="")


def runs_for(keys: list[str], strategy: TimeInterval) -> list[list[str]]:
    """The keys as they are computed together: neighbours, recorded run by run."""
    return batches(keys, strategy.batch_size * _BATCHES_A_RUN, strategy.granularity)
