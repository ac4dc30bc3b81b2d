"""Settling: what a forecast says needs no Spark is done and recorded, all in one transaction."""

from collections.abc import Iterator

from rocky.errors import InternalError, RockyError
from rocky.run.forecast import Forecast, Foreseen
from rocky.run.journal import Journal
from rocky.run.recording import Recorder
from rocky.run.reporting import RunTimes
from rocky.run.step_records import StepRecord, Timing
from rocky.run.taking import Taker


def settle(
    forecast: Forecast, taker: Taker, recorder: Recorder, journal: Journal, times: RunTimes
) -> frozenset[str]:
    """Record the steps that need not be built; their ids.

    What cannot be committed again now is left to be tried, and to fail if it must, as a build.
    """
    records = list(_records(forecast, taker, recorder, times))
    journal.record_all(records)
    return frozenset(each.outcome.step.id for each in records)


def _records(
    forecast: Forecast, taker: Taker, recorder: Recorder, times: RunTimes
) -> Iterator[StepRecord]:
    left: set[str] = set()
    for each in forecast.steps:
        # A reader of what is left must wait for it.
        if not each.settled or left & set(each.step.after):
            left.add(each.step.id)
            continue
        record = _record(each, taker, recorder, times)
        if record is None:
            left.add(each.step.id)
        else:
            yield record


def _record(each: Foreseen, taker: Taker, recorder: Recorder, times: RunTimes) -> StepRecord | None:
    now = times.now()
    if each.decision is None or each.decision.taken is None or each.made_from is None:
        return recorder.idle(each.step, now)
    if not taker.can_take:
        return None
    try:
        result = taker.take_over(each.step, each.made_from, each.decision)
    except InternalError:
        raise
    except RockyError:
        return None
    return recorder.taken_over(each.step, result, Timing(now, 0))
