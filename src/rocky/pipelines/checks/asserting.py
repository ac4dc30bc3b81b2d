"""`assertions` of a pipeline: the assertions of models, asked of the tables they name.

Without `table` an assertion is about every table. One that names a table of the pipeline that this
run has not touched waits for a run that does; one that names no table at all has failed.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.asking import Asker
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
    if not wanted:
        return
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


def _unanswered(table: str, assertion: AssertionRecord, why: str) -> CheckOutcome:
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
