"""`freshness`: how old the newest row of a table is, by the table's own timestamp column.

A timestamp in the future says nothing about age: such rows are counted and named, and the newest
of the others decides. A table without a newest row is not fresh.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Final

from rocky.errors import RockyError
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_name, quote_text
from rocky.ledger.pipeline_records import CheckOutcome
from rocky.pipelines.checks.answers import TableQueries, find_column, newest_moment
from rocky.pipelines.report import CheckedTable
from rocky.project.configuration.pipelines import FreshnessCheck
from rocky.run.engine.failures import STEP_ERRORS

SKEW: Final = timedelta(minutes=5)
"""How far clocks may be apart: a timestamp up to this far ahead is the present."""


_UNITS: Final = ((86_400, "day", "days"), (3_600, "h", "h"))
"""Seconds of a unit, and what one and several of it are called."""


@dataclass(frozen=True, slots=True)
class _Newest:
    """The newest row that is not in the future, and how many rows are."""

    moment: datetime | None
    ahead: int = 0


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
        expected=f"at most {_exactly(allowed)} old",
    )
    try:
        newest = _newest(table, _column(table, check), asker, now)
    except STEP_ERRORS as failure:
        return replace(outcome, error=asker.explain(failure))
    ahead = f"; {newest.ahead} with a timestamp in the future" if newest.ahead else ""
    if newest.moment is None:
        why = (
            "no row has a timestamp that is not in the future"
            if ahead
            else "no row has a timestamp"
        )
        return replace(outcome, observed=f"no newest row{ahead}", error=why)
    age = max(0, int((now - newest.moment).total_seconds()))
    return replace(outcome, passed=age <= allowed, observed=f"{_roughly(age, allowed)} old{ahead}")


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


def _exactly(seconds: int) -> str:
    """A duration in the largest unit of which it is a multiple."""
    for unit, one, several in _UNITS:
        if seconds and seconds % unit == 0:
            return f"1 {one}" if seconds == unit else f"{seconds // unit} {several}"
    return f"{seconds} s"


def _roughly(age: int, allowed: int) -> str:
    """A duration in whole units, of which there are two at least.

    What is too old is never rounded down to what would be allowed.
    """
    for unit, _, several in _UNITS:
        if age >= 2 * unit and (age <= allowed or age // unit * unit > allowed):
            return f"{age // unit} {several}"
    return f"{age} s"


def _schemas(table: CheckedTable) -> list[str]:
    source = [table.source_schema.lower()] if table.source_schema else []
    return [table.target.schema.lower(), *source]


def _column(table: CheckedTable, check: FreshnessCheck) -> StructField:
    name = table.timestamp_column or check.timestamp_column
    if name is None:
        raise RockyError("no timestamp column of the table is known; set `timestamp_column`")
    column = find_column(table.snapshot, name)
    if column is None:
        raise RockyError(f"the table has no column `{name}`")
    return column


def _newest(
    table: CheckedTable, column: StructField, asker: TableQueries, now: datetime
) -> _Newest:
    if table.snapshot.rows == 0:
        return _Newest(None)
    latest = now.astimezone(UTC) + SKEW
    found = newest_moment(table.snapshot, column)
    if found is not None and found <= latest:
        return _Newest(found)
    moment, limit = f"CAST({quote_name(column.name)} AS TIMESTAMP)", _literal(latest)
    sql = (
        f"SELECT CAST(max(CASE WHEN {moment} <= {limit} THEN {moment} END) AS STRING) AS newest,"  # noqa: S608 - names are quoted
        f" count_if({moment} > {limit}) AS ahead FROM {quote_name(asker.target_view(table))}"
    )
    row = asker.first_row(sql)
    if row is None:
        raise RockyError("Spark gave no answer")
    return _Newest(_parsed(row[0]) if row[0] is not None else None, int(row[1]))


def _literal(moment: datetime) -> str:
    return f"CAST({quote_text(moment.isoformat())} AS TIMESTAMP)"


def _parsed(text: str) -> datetime:
    """The moment in Spark's text of it; sessions are held to UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as wrong:
        raise RockyError(f"the newest timestamp `{text}` cannot be read") from wrong
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
