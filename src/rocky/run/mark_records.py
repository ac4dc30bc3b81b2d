"""Watermarks as the ledger keeps them, written with the execution that moved them."""

from dataclasses import dataclass
from datetime import datetime

from rocky.ledger.record import RunId
from rocky.ledger.records import NO_MARK, WatermarkState
from rocky.plan.steps import RunPlan, Step
from rocky.project.strategies import Incremental, Microbatch
from rocky.run.build import Built
from rocky.run.marks import mark_value, shown_mark
from rocky.run.pinning import PinnedTable
from rocky.store.snapshot import WATERMARK
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class MarkRecords:
    """Makes the watermark records of one run."""

    plan: RunPlan
    run_id: RunId

    def built(
        self, step: Step, built: Built, pinned: PinnedTable | None, now: datetime
    ) -> WatermarkState | None:
        """How far a build has brought its table."""
        if pinned is None:
            return None
        if built.watermark is None:
            if not built.commits or not self._keeps_mark(step):
                return None
            # What was loaded has no time: a mark from before would be of rows that are gone.
            return WatermarkState(pinned.table.name, NO_MARK, now, step.name, self.run_id)
        said = pinned.snapshot.configuration.get(WATERMARK)
        value = shown_mark(said, built.watermark)
        return WatermarkState(pinned.table.name, value, now, step.name, self.run_id)

    def left(self, step: Step, table: Table | None, now: datetime) -> WatermarkState | None:
        """How far a step had got that committed and then failed: the next run goes on there."""
        snapshot = table.snapshot() if table is not None else None
        if table is None or snapshot is None or not self._keeps_mark(step):
            return None
        said = snapshot.configuration.get(WATERMARK)
        if not said:
            return None
        return WatermarkState(table.name, mark_value(said), now, step.name, self.run_id)

    def _keeps_mark(self, step: Step) -> bool:
        strategy = self.plan.project.models[step.key].strategy if step.kind == "build" else None
        return isinstance(strategy, Incremental | Microbatch)
