"""Windows: which time intervals each time-interval model of a run is asked for.

What the ledger has recorded as computed is needed only to know what is missing.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from rocky.errors import NothingSelected
from rocky.ledger.reader import Reader
from rocky.ledger.records import PartitionStatus
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan
from rocky.project.strategies import TimeInterval
from rocky.run.build import Window
from rocky.run.materialize.intervals import select_keys


def windows_of(plan: RunPlan, window: Window, ledger: Ledger, now: datetime) -> dict[str, Window]:
    """The window of every time-interval model, by key. Raises as `find_windows`."""
    with ledger.reader() as reader:
        return find_windows(plan, window, reader, now)


def find_windows(
    plan: RunPlan, window: Window, reader: Reader | None, now: datetime
) -> dict[str, Window]:
    """The window of every time-interval model, by key. Without a reader nothing was recorded yet.

    Raises NothingSelected when one was asked for and no selected model has time intervals, and
    RockyError for a key that is none of a model's: before Spark starts.
    """
    found: dict[str, Window] = {}
    for key, strategy in _strategies(plan).items():
        recorded = () if reader is None else reader.partitions(plan.project.models[key].name)
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
