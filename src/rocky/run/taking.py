"""Taking over: a recorded result becomes what readers of its table see, without building it."""

from collections.abc import Mapping

from rocky.plan.steps import Step
from rocky.run.engine import Engine
from rocky.run.inputs import MadeFrom
from rocky.run.pinning import PinnedTable, Pins
from rocky.run.reuse import Decision, Taken
from rocky.run.step_results import BuildOrders, StepResult
from rocky.store.change import Change, Committed

_OWN = "rocky."
"""The beginning of table properties that belong to a version's rows."""


class Taker:
    """Takes recorded results over. Threads may share it.

    Without an engine nothing can be taken of which Spark itself is to be told.
    """

    def __init__(self, orders: BuildOrders, pins: Pins, engine: Engine | None = None) -> None:
        self._orders = orders
        self._pins = pins
        self._engine = engine

    @property
    def can_take(self) -> bool:
        """Whether nobody has to be told who cannot be told now."""
        return self._engine is not None or not any(
            each.needs_engine for each in self._orders.announce
        )

    def take_over(self, step: Step, made_from: MadeFrom, decision: Decision) -> StepResult:
        """Let a recorded result stand for a build. Raises what the store raises."""
        taken = decision.taken
        assert taken is not None
        committed = None
        snapshot = taken.snapshot
        if not taken.live:
            info = self._orders.info_of(step.name, made_from)
            committed = commit_again(taken, {**info, **self._orders.vouch()})
            snapshot = committed.snapshot
        # Also of a table that stays as it is: it may be the first time that anybody is told.
        for each in self._orders.announce:
            each.tell(self._engine, taken.table, snapshot)
        pinned = PinnedTable(taken.table, snapshot)
        self._pins.pin(step.id, pinned)
        return StepResult(made_from, pinned=pinned, decision=decision, recommitted=committed)


def commit_again(taken: Taken, info: Mapping[str, str]) -> Committed:
    """Make the files of an earlier version the table's content again, in one commit.

    Raises ConcurrentChange, StoreUnwritable, and ChangeRefused when a file is missing after all.
    """
    recorded = taken.snapshot
    return taken.table.commit(
        Change(
            "REPLACE",
            taken.table.snapshot(),
            recorded.schema,
            recorded.partition_columns,
            recorded.files,
            properties={
                name: value
                for name, value in recorded.configuration.items()
                if name.startswith(_OWN)
            },
            info=info,
        )
    )
