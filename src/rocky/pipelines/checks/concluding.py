"""The last word of a run about its tables: the checks, in the form in which a run asks for it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from rocky.errors import LedgerUnreadable
from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.evaluate import Surrounding, run_pipeline_checks
from rocky.pipelines.checks.tables import CheckedTable, ChecksResult, UnreadableTable
from rocky.project.checks import Checks
from rocky.run.notes import Conclusion, RunSoFar
from rocky.store.warehouse import Warehouse


@dataclass(slots=True)
class PipelineChecks:
    """The checks of a pipeline, to be called as `PipelineNotes.conclude`.

    `find_tables` says what is checked, given what the run has done: also the tables that had
    nothing new, because that is what checks are to notice. `known` are the full names of all tables
    of the pipeline, also of those that a filter leaves out, and `schemas` what they are copied
    from. `result` is there when they are done.
    """

    checks: Checks
    find_tables: Callable[[RunSoFar], Sequence[CheckedTable | UnreadableTable]]
    warehouse: Warehouse
    known: Collection[str] = ()
    schemas: Collection[str] = ()
    result: ChecksResult = field(default_factory=ChecksResult)

    def __call__(self, so_far: RunSoFar) -> Conclusion:
        try:
            found = self.find_tables(so_far) if self.checks.enabled else ()
        except LedgerUnreadable as error:
            # What was copied stands and is reported; only what to compare it with is lost.
            lost = CheckOutcome("", "row_count_history", "anomaly", passed=False, error=str(error))
            self.result = ChecksResult((lost,), failed=self.checks.fail_on_error)
            return Conclusion((lost,), failed=self.result.failed)
        tables = [each for each in found if isinstance(each, CheckedTable)]
        unreadable = tuple(each for each in found if isinstance(each, UnreadableTable))
        around = Surrounding(so_far.now, self.known, self.warehouse, unreadable, self.schemas)
        self.result = run_pipeline_checks(self.checks, tables, so_far.engine, around)
        return Conclusion(
            self.result.outcomes,
            self.result.anomalies,
            self.result.counts,
            failed=self.result.failed,
        )
