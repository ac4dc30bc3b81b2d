"""Checks of tables that a pipeline writes and that are no copies: what a run has left of them.

Tables that had nothing new are looked at too: that nothing comes any more is what some checks are
there to find. Those that failed in this run are not.
"""

from collections.abc import Mapping

from rocky.ledger.check_history import load_counts
from rocky.pipelines.checks.evaluate import Surrounding, run_pipeline_checks
from rocky.pipelines.checks.tables import CheckedTable, ChecksResult
from rocky.project.checks import Checks
from rocky.project.models import Target
from rocky.run.notes import Conclusion, RunSoFar
from rocky.run.opened import OpenedRun
from rocky.store.warehouse import Table


class WrittenChecks:
    """The checks of one run, made when all its tables are done with.

    `kind` is the pipeline's type, `targets` are all its tables by key.
    """

    def __init__(
        self,
        opened: OpenedRun,
        checks: Checks,
        kind: str,
        targets: Mapping[str, Target],
        timestamp_column: str | None = None,
    ) -> None:
        self._around = opened.surroundings
        self._checks = checks
        self._kind = kind
        self._targets = targets
        self._time = timestamp_column
        self.result: ChecksResult | None = None

    def conclude(self, so_far: RunSoFar) -> Conclusion:
        """Check what the run has left."""
        failed = {each.step.key for each in so_far.outcomes if not each.succeeded}
        targets = [each for key, each in self._targets.items() if key not in failed]
        tables = [self._checked(each) for each in targets]
        self.result = result = run_pipeline_checks(
            self._checks,
            [each for each in tables if each is not None],
            so_far.engine,
            Surrounding(
                so_far.now,
                [each.full_name for each in self._targets.values()],
                self._around.warehouse,
            ),
        )
        return Conclusion(result.outcomes, result.anomalies, result.counts, result.failed)

    def _checked(self, target: Target) -> CheckedTable | None:
        table: Table = self._around.warehouse.table(target)
        snapshot = table.snapshot()
        if snapshot is None:
            return None
        name = target.full_name
        history = load_counts(self._around.ledger.path, [name])[name]
        own = self._time or (
            self._checks.freshness.timestamp_column if self._checks.freshness else None
        )
        return CheckedTable(
            target,
            table,
            snapshot,
            source_type=self._kind,
            timestamp_column=own,
            history=history,
        )
