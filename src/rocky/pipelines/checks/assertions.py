"""`assertions` of a pipeline: the assertions of models, asked of the tables they name.

Without `table` an assertion is about every table. A name of one or two parts means every table that
ends so, in all schemas: `orders` is the table of each tenant. What it means beside a certain table
(`to_table`) is the one in the same schema. An assertion that names a table which this run has not
touched waits for a run that does; one that names no table at all has failed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.disclosure import NO_SECRETS, Secrets
from rocky.errors import RockyError
from rocky.language.names import split_name
from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.answers import TableQueries, count_nulls, find_column
from rocky.pipelines.report import CheckedTable, Sample
from rocky.project.configuration.labels import shown_text
from rocky.project.configuration.model import AssertionRecord
from rocky.project.models import Target
from rocky.project.sources import SourceTable
from rocky.run.checks.assertion_sql import AssertionSubject
from rocky.run.checks.assertions import COUNTS, check_assertions, quotes_value
from rocky.run.checks.outcomes import AssertionOutcome
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import StepFailure
from rocky.store.warehouse import Warehouse

_FULL_NAME_PARTS: Final = 3
NO_SOURCES: Final[Mapping[str, SourceTable]] = {}


def is_meant_by(name: str, full_name: str) -> bool:
    """Whether a written name means the table of this full name."""
    parts = split_name(name.lower())
    return tuple(full_name.lower().split("."))[-len(parts) :] == parts


def means_nothing(name: str, full_names: Collection[str]) -> bool:
    """Whether a written name means none of these tables."""
    return not any(is_meant_by(name, each) for each in full_names)


class RelatedTables:
    """The tables that an assertion of one table can be about: others of the pipeline, or any."""

    def __init__(
        self,
        tables: Sequence[CheckedTable],
        warehouse: Warehouse | None,
        asker: TableQueries,
        sources: Mapping[str, SourceTable] = NO_SOURCES,
    ) -> None:
        self._tables = {each.key: each for each in tables}
        self._warehouse = warehouse
        self._sources = sources
        self._asker = asker

    def view_of(self, name: str, beside: Target) -> str:
        """A view over the table that a name means beside another. Raises RockyError for none."""
        target = _complete_name(name, beside)
        # The name of a source may have fewer parts.
        key = target.key.lstrip(".")
        checked = self._tables.get(key)
        if checked is not None:
            return self._asker.target_view(checked)
        source = self._sources.get(key)
        if source is not None:
            return self._asker.foreign_view(source)
        if self._warehouse is not None and all(target):
            table = self._warehouse.table(target)
            snapshot = table.snapshot()
            if snapshot is not None:
                return self._asker.table_view(target.key, table, snapshot)
        raise RockyError(f"there is no table `{target.full_name.lstrip('.')}`")


def _complete_name(name: str, beside: Target) -> Target:
    """A written name with the parts it leaves out taken from another table."""
    parts = split_name(name)
    if len(parts) > _FULL_NAME_PARTS:
        raise RockyError(f"`{name}` is not the name of a table")
    return Target(*(*beside[: _FULL_NAME_PARTS - len(parts)], *parts))


KeepSample = Callable[[str, str, Sample], None]


def assertions_for(
    full_name: str, assertions: Sequence[AssertionRecord]
) -> tuple[AssertionRecord, ...]:
    """The assertions about a table, in the order they are declared."""
    return tuple(
        each for each in assertions if each.table is None or is_meant_by(each.table, full_name)
    )


def check_pipeline_assertions(
    table: CheckedTable,
    assertions: Sequence[AssertionRecord],
    neighbours: RelatedTables,
    asker: TableQueries,
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
        rows = table.rows
        fits = (low is None or rows >= low) and (high is None or rows <= high)
        return replace(outcome, passed=fits, observed=str(rows)) if ends != (None, None) else None
    column = find_column(table, assertion.column or "")
    if assertion.type != "not_null" or column is None or count_nulls(table.snapshot, column) != 0:
        return None
    return replace(outcome, passed=True, failing_rows=0)


def _by_spark(
    table: CheckedTable,
    wanted: Sequence[AssertionRecord],
    neighbours: RelatedTables,
    asker: TableQueries,
    keep: KeepSample,
) -> Iterator[CheckOutcome]:
    types = {field.name.lower(): field.type for field in table.columns}

    def ask(assertion: AssertionRecord) -> AssertionSubject:
        view = asker.target_view(table)
        if assertion.to_table is None:
            return AssertionSubject(view, types)
        return AssertionSubject(view, types, neighbours.view_of(assertion.to_table, table.target))

    try:
        engine = asker.engine()
    except STEP_ERRORS as failure:
        why = asker.explain(failure)
        yield from (_unanswered(table.name, each, why) for each in wanted)
        return

    def classify(_index: int, error: BaseException) -> StepFailure:
        failure = classify_step_failure(error)
        return replace(failure, message=asker.explain(error))

    def hidden(assertion: AssertionRecord, column: str) -> Secrets:
        if not column:
            quotes = quotes_value(assertion)
            return asker.secrets_of(table, assertion.column or "") if quotes else NO_SECRETS
        counts = column == COUNTS and find_column(table, column) is None
        return NO_SECRETS if counts else asker.secrets_of(table, column)

    for outcome in check_assertions(table.name, wanted, ask, engine, classify, hidden):
        if outcome.sample:
            keep(table.name, outcome.name, Sample(outcome.sample_columns, outcome.sample))
        yield _check_outcome(outcome)


def unmatched_assertions(
    assertions: Sequence[AssertionRecord], full_names: Collection[str]
) -> Iterator[CheckOutcome]:
    """A failed check for each assertion that names no table of the pipeline."""
    for each in assertions:
        if each.table is not None and means_nothing(each.table, full_names):
            why = f"`{each.table}` names no table of the pipeline"
            yield _unanswered(each.table, each, why)


def _unanswered(table: str, assertion: AssertionRecord, why: str | None) -> CheckOutcome:
    return CheckOutcome(
        table,
        assertion.called,
        assertion.type,
        passed=False,
        severity=assertion.severity,
        error=why,
        description=shown_text(assertion.description),
    )


def _check_outcome(outcome: AssertionOutcome) -> CheckOutcome:
    return CheckOutcome(
        outcome.model,
        outcome.name,
        outcome.type,
        outcome.passed,
        outcome.severity,
        observed=outcome.observed,
        failing_rows=outcome.failing_rows,
        error=outcome.error,
        description=outcome.description,
    )
