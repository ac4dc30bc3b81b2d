"""The report of a pipeline that is no set of models: what was copied, left alone, drifted, checked.

It is a run's report with more at its end, so that whoever reads one can read the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, DriftRecord
from rocky.operations.digest import Digest, Digested
from rocky.operations.execution.run_report import ModelsRun, report_models
from rocky.operations.report import flat, hidden, same_fields
from rocky.pipelines.report import ChecksResult, PipelineResult, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedTable:
    """A table or file that was left alone."""

    table_name: str
    target: str | None = None
    reason: str


@dataclass(frozen=True, slots=True)
class TableDrift:
    """A difference between a source and its copy."""

    table: str
    record: DriftRecord = flat()


@dataclass(frozen=True, slots=True)
class DriftSummary:
    """How sources had changed, and what was done about it."""

    tables_checked: int
    tables_drifted: int
    actions_taken: tuple[TableDrift, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """What one check of a table found."""

    name: str
    kind: str
    passed: bool
    severity: str
    observed: str | None
    expected: str | None
    failing_rows: int | None
    error: str | None
    sample: Sample | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class TableChecks:
    """The checks of one table."""

    table: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class CheckResults:
    """What all checks found, table by table."""

    check_results: tuple[TableChecks, ...]
    anomalies: tuple[AnomalyRecord, ...]


def report_checks(found: ChecksResult) -> CheckResults:
    """The checks of a pipeline by table, with rows that failed them."""
    tables: dict[str, list[Check]] = {}
    for each in found.outcomes:
        sample = found.samples.get((each.table, each.name))
        tables.setdefault(each.table, []).append(_check(each, sample))
    return CheckResults(
        tuple(TableChecks(table, tuple(checks)) for table, checks in tables.items()),
        found.anomalies,
    )


def _check(outcome: CheckOutcome, sample: Sample | None) -> Check:
    return Check(sample=sample, **same_fields(Check, outcome, frozenset({"sample"})))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PipelineRun(Digested):
    """One run of a pipeline. There are checks where any were asked for."""

    result: PipelineResult = hidden()
    run: ModelsRun = flat()
    pipeline_type: str
    excluded_tables: tuple[ExcludedTable, ...]
    tables_unchanged: int
    failed_sources: Mapping[str, str]
    drift: DriftSummary
    warnings: tuple[str, ...]
    checks: CheckResults | None = flat()

    @property
    def exit_code(self) -> int:
        """That of the run: 130 interrupted, 1 failed, 2 failed in part, 0 fine."""
        return self.run.exit_code

    @property
    def is_done(self) -> bool:
        """Whether its tables are as they shall be, for those that read them."""
        return self.run.is_done

    @property
    def succeeded(self) -> bool:
        """Whether it ended well, and exceeded no budget that is an error."""
        return self.run.succeeded

    def digest(self) -> Digest:
        return self.run.digest()


def report_pipeline(result: PipelineResult) -> PipelineRun:
    """The report of a run of a pipeline."""
    run = result.run
    drift = tuple(
        TableDrift(outcome.step.name, record)
        for outcome in run.outcomes
        for record in outcome.execution.drift
    )
    return PipelineRun(
        result=result,
        run=report_models(run),
        pipeline_type=result.kind,
        excluded_tables=tuple(
            ExcludedTable(table_name=each.name, target=each.target, reason=each.reason)
            for each in result.excluded
        ),
        tables_unchanged=len(run.unchanged),
        failed_sources=run.failed_sources,
        drift=DriftSummary(len(run.outcomes), len({each.table for each in drift}), drift),
        warnings=run.warnings,
        checks=None if result.checks is None else report_checks(result.checks),
    )
