"""Anomalies: a row count against the counts of earlier runs. Pure functions over numbers.

The count of this run is never part of its own baseline: a truncated table would pull the average
down with it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rocky.ledger.pipeline_records import AnomalyRecord, RowCount
from rocky.project.checks import Checks

BASELINE_RUNS: Final = 10
"""How many of the newest earlier counts are averaged."""
_WHOLE: Final = 100.0


def find_anomaly(
    table: str, history: Sequence[RowCount], count: int, checks: Checks
) -> AnomalyRecord | None:
    """What is odd about a count, given the counts before this run, oldest first."""
    earlier = [each.count for each in history]
    if not earlier:
        return None
    baseline = baseline_of(earlier)
    deviation = deviation_of(count, baseline)
    kind, reason = None, ""
    if checks.anomaly_threshold_pct and deviation > checks.anomaly_threshold_pct:
        kind = "drop" if count < baseline else "spike"
        reason = (
            f"{count} rows, {deviation:.0f} % {'below' if kind == 'drop' else 'above'} the average"
            f" of {baseline:.0f} over the last {_runs(min(len(earlier), BASELINE_RUNS))}"
        )
    elif is_flat(earlier, count, checks.flat_line_runs):
        kind = "flat"
        reason = (
            f"{count} rows, as for {_runs(flat_for(earlier, count))}, after it had been growing"
        )
    if kind is None:
        return None
    return AnomalyRecord(
        table, kind, count, baseline, deviation, reason, severity=checks.anomaly_severity
    )


def baseline_of(earlier: Sequence[int]) -> float:
    """The average of the newest earlier counts, of which there is at least one."""
    newest = earlier[-BASELINE_RUNS:]
    return sum(newest) / len(newest)


def deviation_of(count: int, baseline: float) -> float:
    """How far a count is from its baseline, in per cent of it."""
    if baseline == 0:
        return _WHOLE if count else 0.0
    return abs(count - baseline) / baseline * _WHOLE


def is_flat(earlier: Sequence[int], count: int, runs: int) -> bool:
    """Whether a table that grew before has not changed its count for this many runs."""
    still = flat_for(earlier, count)
    grew = any(after > before for before, after in pairwise(earlier))
    return runs > 0 and still >= runs and grew


def flat_for(earlier: Sequence[int], count: int) -> int:
    """The number of newest runs, this one included, that did not change the count."""
    still = 0
    for each in reversed(earlier):
        if each != count:
            break
        still += 1
    return still


def _runs(count: int) -> str:
    return f"{count} {'run' if count == 1 else 'runs'}"
