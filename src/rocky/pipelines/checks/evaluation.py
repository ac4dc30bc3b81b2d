"""All checks of a pipeline over its tables, after all of them are written: each on its own.

A check that cannot be evaluated has failed, and stops no other. Spark is opened only when some
check needs it. Tables that had nothing new are looked at too: that nothing comes any more is what
some checks are there to find.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from math import isnan
from typing import Final

from rocky.analysis.disclosure import Disclosure
from rocky.errors import LedgerUnreadable, StoreUnreadable
from rocky.language.names import quote_name
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, RowCount
from rocky.ledger.pipeline_state import load_counts
from rocky.pipelines.checks.answers import TableQueries
from rocky.pipelines.checks.assertions import (
    RelatedTables,
    check_pipeline_assertions,
    unmatched_assertions,
)
from rocky.pipelines.checks.counts import (
    check_columns,
    check_null_rates,
    check_overlap,
    check_row_count,
    find_anomaly,
    without_siblings,
)
from rocky.pipelines.checks.freshness import (
    check_freshness,
    check_own_freshness,
    schemas_of,
    unmatched_overrides,
)
from rocky.pipelines.report import CheckedTable, ChecksResult, Sample, UnreadableTable
from rocky.project.configuration.pipelines import (
    SOURCE_PLACE,
    TABLE_PLACE,
    Checks,
    CustomCheck,
    Toggle,
)
from rocky.project.models import Target
from rocky.project.sources import SourceTable
from rocky.run.engine.failures import STEP_ERRORS
from rocky.run.engine.protocol import Engine
from rocky.run.outcomes import Conclusion, EndedSteps
from rocky.run.prepare.resources import RunResources
from rocky.store.warehouse import Warehouse

_SHOWN_CHARACTERS: Final = 40
"""So much of a cell that is no number: it may be anything."""


def check_custom(
    table: CheckedTable, checks: Sequence[CustomCheck], asker: TableQueries
) -> Iterator[CheckOutcome]:
    """Each query over one table."""
    for check in checks:
        outcome = CheckOutcome(
            table.name,
            check.name,
            "custom",
            passed=False,
            severity=check.severity,
            expected=f"at most {check.threshold}",
        )
        try:
            row = asker.first_row(_custom_query(table, check, asker))
        except STEP_ERRORS as failure:
            yield replace(outcome, error=asker.explain(failure))
            continue
        yield _judge_answer(outcome, row, check.threshold)


def _judge_answer(
    outcome: CheckOutcome, row: Sequence[object] | None, threshold: int
) -> CheckOutcome:
    if not row:
        return replace(outcome, error="the query gave no row")
    cell = row[0]
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal) or isnan(cell):
        shown = "NULL" if cell is None else repr(cell)[:_SHOWN_CHARACTERS]
        return replace(outcome, error=f"the first cell of the answer is not a number but {shown}")
    return replace(outcome, passed=cell <= threshold, observed=str(cell))


def _custom_query(table: CheckedTable, check: CustomCheck, asker: TableQueries) -> str:
    sql = check.sql.strip().removesuffix(";")
    if TABLE_PLACE in sql:
        sql = sql.replace(TABLE_PLACE, quote_name(asker.target_view(table)))
    if SOURCE_PLACE in sql:
        sql = sql.replace(SOURCE_PLACE, quote_name(asker.source_view(table)))
    # Inside brackets only a query can stand: a check never changes anything.
    return f"SELECT * FROM (\n{sql}\n)"  # noqa: S608 - the user's own query


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the checked tables stand in.

    `known` are the full names of all tables of the pipeline, checked now or not. In `warehouse` the
    tables of others are found that a relationship is with. Each of `unreadable` is a failed check.
    `schemas` are those that the tables of the pipeline are copied from. `sources` are declared, and
    a relationship may be with one. `disclosure` says which values may be told; without one all may.
    """

    now: datetime
    known: Collection[str] = ()
    warehouse: Warehouse | None = None
    unreadable: tuple[UnreadableTable, ...] = ()
    schemas: Collection[str] = ()
    sources: Mapping[str, SourceTable] = field(default_factory=dict)
    disclosure: Disclosure | None = None


def _looked_at(table: CheckedTable, asker: TableQueries) -> CheckedTable | UnreadableTable:
    """A table with its columns and rows, where Spark has to be asked for them."""
    if table.live is None:
        return table
    try:
        view = asker.foreign_view(table.live.source)
        engine = asker.engine()
        columns = engine.columns(engine.frame(f"SELECT * FROM {quote_name(view)}"))  # noqa: S608 - names are quoted
        rows = asker.count(view)
    except STEP_ERRORS as failure:
        return UnreadableTable(table.name, asker.explain(failure))
    return replace(table, live=replace(table.live, columns=tuple(columns), rows=rows))


def run_pipeline_checks(
    checks: Checks,
    tables: Sequence[CheckedTable],
    open_engine: Callable[[], Engine] | None,
    surrounding: CheckContext,
) -> ChecksResult:
    """What came of every check. Nothing is asked when checks are not enabled."""
    if not checks.enabled:
        return ChecksResult()
    with TableQueries(open_engine, surrounding.disclosure) as asker:
        found = [_looked_at(each, asker) for each in tables]
        tables = [each for each in found if isinstance(each, CheckedTable)]
        unreadable = [each for each in found if isinstance(each, UnreadableTable)]
        surrounding = replace(surrounding, unreadable=(*surrounding.unreadable, *unreadable))
        neighbours = RelatedTables(tables, surrounding.warehouse, asker, surrounding.sources)
        evaluation = _Evaluation(checks, tables, asker, surrounding, neighbours)
        outcomes = tuple(evaluation.outcomes())
    anomalies = tuple(_anomalies(checks, tables))
    counts = {each.key: RowCount(each.rows, surrounding.now) for each in tables}
    return ChecksResult(
        outcomes,
        anomalies,
        counts,
        evaluation.samples,
        failed=checks.fail_on_error and has_failures(outcomes, anomalies),
    )


def has_failures(outcomes: Sequence[CheckOutcome], anomalies: Sequence[AnomalyRecord]) -> bool:
    """Whether anything of severity `error` is not as it should be."""
    return any(not each.passed and each.severity == "error" for each in outcomes) or any(
        each.severity == "error" for each in anomalies
    )


def toggle_of(setting: bool | Toggle) -> Toggle | None:  # noqa: FBT001 - a setting's value
    """A check that is switched on, with its severity; None for one that is off."""
    toggle = Toggle(enabled=setting) if isinstance(setting, bool) else setting
    return toggle if toggle.enabled else None


def _unreadable_outcome(table: UnreadableTable) -> CheckOutcome:
    return CheckOutcome(table.name, "readable", "readable", passed=False, error=table.why)


def _anomalies(checks: Checks, tables: Sequence[CheckedTable]) -> Iterator[AnomalyRecord]:
    for table in tables:
        found = find_anomaly(table.name, table.history, table.rows, checks)
        if found is not None:
            yield found


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """One evaluation of all checks."""

    checks: Checks
    tables: Sequence[CheckedTable]
    asker: TableQueries
    surrounding: CheckContext
    neighbours: RelatedTables
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)

    def outcomes(self) -> Iterator[CheckOutcome]:
        """By table, in the order of the settings; then what is about several tables or none."""
        for table in self.tables:
            yield from self._simple(table)
            yield from self._by_spark(table)
        yield from map(_unreadable_outcome, self.surrounding.unreadable)
        names = {*self.surrounding.known, *(each.name for each in self.tables)}
        names |= {each.name for each in self.surrounding.unreadable}
        yield from unmatched_assertions(self.checks.assertions, names)
        if self.checks.freshness is not None:
            schemas = schemas_of(self.tables, names) | set(self.surrounding.schemas)
            yield from unmatched_overrides(schemas, self.checks.freshness)
        if self.checks.cross_source_overlap is not None:
            overlap = self.checks.cross_source_overlap
            yield from without_siblings(names, overlap)
            yield from check_overlap(self.tables, overlap, self.asker, self._keep)

    def _simple(self, table: CheckedTable) -> Iterator[CheckOutcome]:
        yield from self._against_source(table)
        if self.checks.freshness is not None:
            now = self.surrounding.now
            yield check_freshness(table, self.checks.freshness, self.asker, now)
        elif table.freshness is not None:
            now = self.surrounding.now
            yield check_own_freshness(table, table.freshness, self.asker, now)
        if self.checks.null_rate is not None:
            yield from check_null_rates(table, self.checks.null_rate, self.asker)

    def _against_source(self, table: CheckedTable) -> Iterator[CheckOutcome]:
        if table.unchanged:
            return
        row_count, columns = toggle_of(self.checks.row_count), toggle_of(self.checks.column_match)
        if row_count is not None:
            yield check_row_count(table, row_count.severity, self.asker)
        if columns is not None:
            yield check_columns(table, columns.severity)

    def _by_spark(self, table: CheckedTable) -> Iterator[CheckOutcome]:
        custom = [
            each
            for each in self.checks.custom
            if not (table.unchanged and SOURCE_PLACE in each.sql)
        ]
        yield from check_custom(table, custom, self.asker)
        yield from check_pipeline_assertions(
            table, self.checks.assertions, self.neighbours, self.asker, self._keep
        )

    def _keep(self, table: str, check: str, sample: Sample) -> None:
        self.samples[table, check] = sample


@dataclass(slots=True)
class PipelineChecks:
    """The checks of a pipeline, to be called as `PipelineNotes.conclude`.

    `find_tables` says what is checked, given what the run has done: also the tables that had
    nothing new, because that is what checks are to notice. `known` are the full names of all tables
    of the pipeline, also of those that a filter leaves out, and `schemas` what they are copied
    from. `result` is there when they are done.
    """

    checks: Checks
    find_tables: Callable[[EndedSteps], Sequence[CheckedTable | UnreadableTable]]
    warehouse: Warehouse
    known: Collection[str] = ()
    schemas: Collection[str] = ()
    sources: Mapping[str, SourceTable] = field(default_factory=dict)
    result: ChecksResult = field(default_factory=ChecksResult)

    def __call__(self, so_far: EndedSteps) -> Conclusion:
        try:
            found = self.find_tables(so_far) if self.checks.enabled else ()
        except LedgerUnreadable as error:
            # What was copied stands and is reported; only what to compare it with is lost.
            lost = CheckOutcome("", "row_count_history", "anomaly", passed=False, error=str(error))
            self.result = ChecksResult((lost,), failed=self.checks.fail_on_error)
            return Conclusion((lost,), failed=self.result.failed)
        tables = [each for each in found if isinstance(each, CheckedTable)]
        unreadable = tuple(each for each in found if isinstance(each, UnreadableTable))
        context = CheckContext(
            so_far.now,
            self.known,
            self.warehouse,
            unreadable,
            self.schemas,
            self.sources,
            so_far.disclosure,
        )
        self.result = run_pipeline_checks(self.checks, tables, so_far.engine, context)
        return Conclusion(
            self.result.outcomes,
            self.result.anomalies,
            self.result.counts,
            failed=self.result.failed,
        )


def checks_of_targets(
    resources: RunResources,
    checks: Checks,
    targets: Mapping[str, Target],
    kind: str,
    timestamp_column: str | None = None,
) -> PipelineChecks:
    """The checks of a pipeline of a kind, whose tables are `targets`, by key."""
    freshness = checks.freshness
    time = timestamp_column or (freshness.timestamp_column if freshness is not None else None)
    return PipelineChecks(
        checks,
        partial(_find_targets, resources, targets, kind, time),
        resources.warehouse,
        [each.full_name for each in targets.values()],
    )


def _find_targets(
    resources: RunResources,
    targets: Mapping[str, Target],
    kind: str,
    time: str | None,
    so_far: EndedSteps,
) -> list[CheckedTable | UnreadableTable]:
    ended = {each.step.key: each.succeeded for each in so_far.outcomes}
    wanted = [each for key, each in targets.items() if ended.get(key, True)]
    history = load_counts(resources.ledger.path, [each.full_name for each in wanted])
    found: list[CheckedTable | UnreadableTable] = []
    for target in wanted:
        name, table = target.full_name, resources.warehouse.table(target)
        try:
            snapshot = table.snapshot()
        except StoreUnreadable as error:
            found.append(UnreadableTable(name, str(error)))
            continue
        if snapshot is not None:
            found.append(
                CheckedTable(
                    target,
                    table,
                    snapshot,
                    source_type=kind,
                    timestamp_column=time,
                    history=history[name],
                )
            )
    return found
