"""`assertions` of a pipeline: the assertions of models, asked of the tables they name.

Without `table` an assertion is about every table. One that names a table of the pipeline that this
run has not touched waits for a run that does; one that names no table at all has failed.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.asking import Asker
from rocky.pipelines.checks.log_answers import find_column, nulls_of
from rocky.pipelines.checks.naming import Neighbours, is_named, names_nothing
from rocky.pipelines.checks.samples import Sample
from rocky.pipelines.checks.tables import CheckedTable
from rocky.project.assertions import AssertionRecord
from rocky.run.checks.assertions import check_assertions, name_of
from rocky.run.checks.outcomes import AssertionOutcome
from rocky.run.checks.questions import Asked
from rocky.run.failures import CAUGHT

KeepSample = Callable[[str, str, Sample], None]


def assertions_for(
    full_name: str, assertions: Sequence[AssertionRecord]
) -> tuple[AssertionRecord, ...]:
    """The assertions about a table, in the order they are declared."""
    return tuple(
        each for each in assertions if each.table is None or is_named(each.table, full_name)
    )


def check_pipeline_assertions(
    table: CheckedTable,
    assertions: Sequence[AssertionRecord],
    neighbours: Neighbours,
    asker: Asker,
    keep: KeepSample,
) -> Iterator[CheckOutcome]:
    """What came of every assertion about one table; `keep` is given the rows that fail."""
    wanted = assertions_for(table.name, assertions)
    known = {index: _from_log(table, each) for index, each in enumerate(wanted)}
    rest = [each for index, each in enumerate(wanted) if known[index] is None]
    asked = _by_spark(table, rest, neighbours, asker, keep) if rest else iter(())
    for index in range(len(wanted)):
        yield known[index] or next(asked)


def _from_log(table: CheckedTable, assertion: AssertionRecord) -> CheckOutcome | None:
    """The answer that the table's log has, where that needs no row to be shown."""
    outcome = _unanswered(table.name, assertion, None)
    if assertion.filter is not None:
        return None
    if assertion.type == "row_count_range":
        ends = (assertion.min, assertion.max)
        if any(isinstance(each, str) for each in ends):
            return None
        low, high = (None if each is None else float(each) for each in ends)
        rows = table.snapshot.rows
        fits = (low is None or rows >= low) and (high is None or rows <= high)
        return replace(outcome, passed=fits, observed=str(rows)) if ends != (None, None) else None
    column = find_column(table.snapshot, assertion.column or "")
    if assertion.type != "not_null" or column is None or nulls_of(table.snapshot, column) != 0:
        return None
    return replace(outcome, passed=True, failing_rows=0)


def _by_spark(
    table: CheckedTable,
    wanted: Sequence[AssertionRecord],
    neighbours: Neighbours,
    asker: Asker,
    keep: KeepSample,
) -> Iterator[CheckOutcome]:
    types = {field.name.lower(): field.type for field in table.snapshot.schema}

    def ask(assertion: AssertionRecord) -> Asked:
        view = asker.target_view(table)
        if assertion.to_table is None:
            return Asked(view, types)
        return Asked(view, types, neighbours.view_of(assertion.to_table, table.target))

    try:
        engine = asker.engine()
    except CAUGHT as failure:
        why = asker.explain(failure)
        yield from (_unanswered(table.name, each, why) for each in wanted)
        return
    for outcome in check_assertions(table.name, wanted, ask, engine):
        if outcome.sample:
            keep(table.name, outcome.name, Sample(outcome.sample_columns, outcome.sample))
        yield _recorded(outcome)


def unmatched_assertions(
    assertions: Sequence[AssertionRecord], full_names: Collection[str]
) -> Iterator[CheckOutcome]:
    """A failed check for each assertion that names no table of the pipeline."""
    for each in assertions:
        if each.table is not None and names_nothing(each.table, full_names):
            why = f"`{each.table}` names no table of the pipeline"
            yield _unanswered(each.table, each, why)


def _unanswered(table: str, assertion: AssertionRecord, why: str | None) -> CheckOutcome:
    return CheckOutcome(
        table,
        name_of(assertion),
        assertion.type,
        passed=False,
        severity=assertion.severity,
        error=why,
    )


def _recorded(outcome: AssertionOutcome) -> CheckOutcome:
    return CheckOutcome(
        outcome.model,
        outcome.name,
        outcome.type,
        outcome.passed,
        outcome.severity,
        observed=outcome.observed,
        failing_rows=outcome.failing_rows,
        error=outcome.error,
    )
