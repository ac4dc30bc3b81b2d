"""Retention: which runs' records must stay replayable."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from rocky.ledger.record import RunId
from rocky.ledger.rows import run_id_at


class Retention(NamedTuple):
    """Runs are kept that are young enough, and in any case the newest so many."""

    max_age_days: int
    min_runs_kept: int
    min_age_days: int


def retained_runs(run_ids: Sequence[RunId], retention: Retention, now: datetime) -> set[RunId]:
    """The runs, of those given in any order, whose records must stay replayable."""
    newest_first = sorted(run_ids, reverse=True)
    # Ids sort as the runs began, so the horizon is the id of a run that would have begun there.
    horizon = run_id_at(days_before(now, retention.max_age_days))
    young = {each for each in newest_first if each >= horizon}
    return young | set(newest_first[: retention.min_runs_kept])


def days_before(moment: datetime, days: int) -> datetime:
    """So many days earlier; the beginning of time when there were not so many."""
    try:
        return moment - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=moment.tzinfo)
