"""Windows: which time intervals each time-interval model of a run is asked for.

What the ledger has recorded as computed is needed only to know what is missing.
"""

from dataclasses import replace
from datetime import datetime

from rocky.errors import NothingSelected
from rocky.ledger.records import PartitionStatus
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan
from rocky.project.strategies import TimeInterval
from rocky.run.build import Window
from rocky.run.materialize.intervals import select_keys


def windows_of(plan: RunPlan, window: Window, ledger: Ledger, now: datetime) -> dict[str, Window]:
    """The window of every time-interval model, by key.

    Raises NothingSelected when one was asked for and no selected model has time intervals, and
    RockyError for a key that is none of a model's: before Spark starts.
    """
    strategies = {
        step.key: plan.project.models[step.key].strategy
        for step in plan.selected
        if step.kind == "build"
    }
    found: dict[str, Window] = {}
    with ledger.reader() as reader:
        for key, strategy in strategies.items():
            if not isinstance(strategy, TimeInterval):
                continue
            computed = frozenset(
                each.partition_key
                for each in reader.partitions(plan.project.models[key].name)
                if each.status is PartitionStatus.COMPUTED
            )
            found[key] = replace(window, recorded=computed)
            select_keys(strategy, found[key], now)
    if not found and window != Window():
        raise NothingSelected(
            "time intervals were asked for, and no selected model has the strategy `time_interval`"
        )
    return found
