"""`freshness` of a pipeline's tables: how old the newest row is, by a timestamp column.

The log of a table answers where it can; otherwise Spark is asked.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase

from rocky.errors import RockyError
from rocky.language.datatypes.types import StructField
from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.answers import TableQueries, find_column, newest_moment
from rocky.pipelines.report import CheckedTable
from rocky.project.configuration.freshness import FreshnessRecord, exactly
from rocky.project.configuration.pipelines import FreshnessCheck
from rocky.run.checks.freshness import (
    SKEW,
    Newest,
    judge_newest,
    newest_query,
    opening_outcome,
    read_newest,
    roughly,
)
from rocky.run.engine.failures import STEP_ERRORS


def check_freshness(
    table: CheckedTable, check: FreshnessCheck, asker: TableQueries, now: datetime
) -> CheckOutcome:
    """The newest row of a table is at most as old as the threshold of its schema allows."""
    allowed = threshold_of(table, check)
    outcome = CheckOutcome(
        table.name,
        "freshness",
        "freshness",
        passed=False,
        severity=check.severity,
        expected=f"at most {exactly(allowed)} old",
    )
    try:
        newest = _newest(table, _column(table, check), asker, now)
    except STEP_ERRORS as failure:
        return replace(outcome, error=asker.explain(failure))
    age = newest.age(now)
    if age is None:
        observed = f"no newest row{newest.said_ahead}"
        return replace(outcome, observed=observed, error=newest.why_none)
    observed = f"{roughly(age, allowed)} old{newest.said_ahead}"
    return replace(outcome, passed=age <= allowed, observed=observed)


def threshold_of(table: CheckedTable, check: FreshnessCheck) -> int:
    """The override of the table's schema, of either side; else the check's own.

    A name in full comes before a pattern, and a pattern before those declared after it.
    """
    schemas = _schemas(table)
    named = {key.lower(): seconds for key, seconds in check.overrides.items()}
    for schema in schemas:
        if schema in named:
            return named[schema]
    for pattern, seconds in named.items():
        if any(fnmatchcase(schema, pattern) for schema in schemas):
            return seconds
    return check.threshold_seconds


def schemas_of(tables: Collection[CheckedTable], known: Collection[str]) -> set[str]:
    """The schemas of both sides of tables; of those `known` by their full names, the target's."""
    schemas = {schema for table in tables for schema in _schemas(table)}
    return schemas | {name.split(".")[-2] for name in known if name.count(".") > 0}


def unmatched_overrides(schemas: Collection[str], check: FreshnessCheck) -> Iterator[CheckOutcome]:
    """A failed check for each override that is for no schema of the pipeline."""
    for pattern in check.overrides:
        if not any(fnmatchcase(schema.lower(), pattern.lower()) for schema in schemas):
            yield CheckOutcome(
                pattern,
                "freshness",
                "freshness",
                passed=False,
                severity=check.severity,
                error=f"the override `{pattern}` names no schema of the pipeline",
            )


def _schemas(table: CheckedTable) -> list[str]:
    source = [table.source_schema.lower()] if table.source_schema else []
    return [table.target.schema.lower(), *source]


def check_own_freshness(
    table: CheckedTable, declared: FreshnessRecord, asker: TableQueries, now: datetime
) -> CheckOutcome:
    """The newest row of a table is as new as its model or source says."""
    found = opening_outcome(table.name, declared)
    try:
        newest = _newest(table, _named_column(table, declared.time_column), asker, now)
        found = judge_newest(found, declared, newest, now)
    except STEP_ERRORS as failure:
        found = replace(found, error=asker.explain(failure))
    return CheckOutcome(
        found.model,
        found.name,
        found.type,
        found.passed,
        found.severity,
        found.observed,
        found.expected,
        error=found.error,
    )


def _column(table: CheckedTable, check: FreshnessCheck) -> StructField:
    name = table.timestamp_column or check.timestamp_column
    if name is None:
        raise RockyError("no timestamp column of the table is known; set `timestamp_column`")
    return _named_column(table, name)


def _named_column(table: CheckedTable, name: str) -> StructField:
    column = find_column(table, name)
    if column is None:
        raise RockyError(f"the table has no column `{name}`")
    return column


def _newest(table: CheckedTable, column: StructField, asker: TableQueries, now: datetime) -> Newest:
    if table.rows == 0:
        return Newest(None)
    found = newest_moment(table.snapshot, column)
    if found is not None and found <= now.astimezone(UTC) + SKEW:
        return Newest(found)
    return read_newest(asker.first_row(newest_query(asker.target_view(table), column.name, now)))
