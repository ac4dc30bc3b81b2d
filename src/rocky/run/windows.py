"""Windows: which time intervals each time-interval model of a run is asked for.

What the ledger has recorded as computed is needed only to know what is missing.
"""

from dataclasses import replace

from rocky.errors import NothingSelected
from rocky.ledger.records import PartitionStatus
from rocky.ledger.writer import Ledger
from rocky.plan.steps import RunPlan
from rocky.project.strategies import TimeInterval
from rocky.run.build import Window


def windows_of(plan: RunPlan, window: Window, ledger: Ledger) -> dict[str, Window]:
    """The window of every time-interval model, by key.

    Raises NothingSelected when one was asked for and no selected model has time intervals.
    """
    models = [
        plan.project.models[step.key]
        for step in plan.selected
        if step.kind == "build" and isinstance(plan.project.models[step.key].strategy, TimeInterval)
    ]
    if not models:
        if window != Window():
            raise NothingSelected(
                "time intervals were asked for, and no selected model has the strategy"
                " `time_interval`"
            )
        return {}
    with ledger.reader() as reader:
        return {
            model.key: replace(
                window,
                recorded=frozenset(
                    each.partition_key
                    for each in reader.partitions(model.name)
                    if each.status is PartitionStatus.COMPUTED
                ),
            )
            for model in models
        }
