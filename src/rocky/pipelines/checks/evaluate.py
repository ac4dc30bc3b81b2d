"""All checks of a pipeline over its tables, after all copies: each answered on its own.

A check that cannot be evaluated has failed, and stops no other. Spark is opened only when some
check needs it.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, RowCount
from rocky.pipelines.checks.anomalies import find_anomaly
from rocky.pipelines.checks.asking import Asker
from rocky.pipelines.checks.asserting import check_pipeline_assertions, unmatched_assertions
from rocky.pipelines.checks.counts import check_columns, check_row_count
from rocky.pipelines.checks.custom import check_custom
from rocky.pipelines.checks.freshness import check_freshness, schemas_of, unmatched_overrides
from rocky.pipelines.checks.naming import Neighbours
from rocky.pipelines.checks.null_rates import check_null_rates
from rocky.pipelines.checks.overlap import check_overlap, without_siblings
from rocky.pipelines.checks.samples import Sample
from rocky.pipelines.checks.tables import CheckedTable, ChecksResult, UnreadableTable
from rocky.project.checks import SOURCE_PLACE, Checks, Toggle
from rocky.run.engine import Engine
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Surrounding:
    """What the checked tables stand in.

    `known` are the full names of all tables of the pipeline, checked now or not. In `warehouse` the
    tables of others are found that a relationship is with. Each of `unreadable` is a failed check.
    `schemas` are those that the tables of the pipeline are copied from.
    """

    now: datetime
    known: Collection[str] = ()
    warehouse: Warehouse | None = None
    unreadable: tuple[UnreadableTable, ...] = ()
    schemas: Collection[str] = ()


def run_pipeline_checks(
    checks: Checks,
    tables: Sequence[CheckedTable],
    open_engine: Callable[[], Engine] | None,
    surrounding: Surrounding,
) -> ChecksResult:
    """What came of every check. Nothing is asked when checks are not enabled."""
    if not checks.enabled:
        return ChecksResult()
    with Asker(open_engine) as asker:
        neighbours = Neighbours(tables, surrounding.warehouse, asker)
        evaluation = _Evaluation(checks, tables, asker, surrounding, neighbours)
        outcomes = tuple(evaluation.outcomes())
    anomalies = tuple(_anomalies(checks, tables))
    counts = {each.key: RowCount(each.snapshot.rows, surrounding.now) for each in tables}
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


def _unread(table: UnreadableTable) -> CheckOutcome:
    return CheckOutcome(table.name, "readable", "readable", passed=False, error=table.why)


def _anomalies(checks: Checks, tables: Sequence[CheckedTable]) -> Iterator[AnomalyRecord]:
    for table in tables:
        found = find_anomaly(table.name, table.history, table.snapshot.rows, checks)
        if found is not None:
            yield found


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """One evaluation of all checks."""

    checks: Checks
    tables: Sequence[CheckedTable]
    asker: Asker
    surrounding: Surrounding
    neighbours: Neighbours
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)

    def outcomes(self) -> Iterator[CheckOutcome]:
        """By table, in the order of the settings; then what is about several tables or none."""
        for table in self.tables:
            yield from self._simple(table)
            yield from self._by_spark(table)
        yield from map(_unread, self.surrounding.unreadable)
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
