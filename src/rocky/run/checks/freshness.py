"""Freshness: how old the newest row of a table is, and whether that is too old.

A timestamp in the future says nothing about age: such rows are counted and named, and the newest
of the others decides. A table without a newest row is not fresh. The present moment is given, never
asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rocky.errors import RockyError
from rocky.language.names import quote_name, quote_text
from rocky.plan.steps import Read
from rocky.project.configuration.freshness import SHOWN_UNITS, FreshnessRecord, exactly
from rocky.project.sources import SourceTable
from rocky.run.checks.outcomes import AssertionOutcome
from rocky.run.checks.relations import BoundRelations, name_of
from rocky.run.engine.diagnosis import Diagnostician
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import Engine
from rocky.spark.source_files import hide_location

SKEW: Final = timedelta(minutes=5)
"""How far clocks may be apart: a timestamp up to this far ahead is the present."""


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest row that is not in the future, and how many rows are."""

    moment: datetime | None
    ahead: int = 0

    @property
    def said_ahead(self) -> str:
        """The rows of the future, in words that follow others."""
        return f"; {self.ahead} with a timestamp in the future" if self.ahead else ""

    @property
    def why_none(self) -> str:
        """Why there is no newest row."""
        return f"no row has a timestamp{' that is not in the future' if self.ahead else ''}"

    def age(self, now: datetime) -> int | None:
        """How many seconds old the newest row is; None without one."""
        if self.moment is None:
            return None
        return max(0, int((now - self.moment).total_seconds()))


def newest_query(view: str, column: str, now: datetime) -> str:
    """The query whose one row `read_newest` understands."""
    latest = now.astimezone(UTC) + SKEW
    moment = f"CAST({quote_name(column)} AS TIMESTAMP)"
    limit = f"CAST({quote_text(latest.isoformat())} AS TIMESTAMP)"
    return (
        f"SELECT CAST(max(CASE WHEN {moment} <= {limit} THEN {moment} END) AS STRING) AS newest,"  # noqa: S608 - names are quoted
        f" count_if({moment} > {limit}) AS ahead FROM {quote_name(view)}"
    )


def read_newest(row: Sequence[Any] | None) -> Newest:
    """The answer to `newest_query`. Raises RockyError for none."""
    if row is None:
        raise RockyError("Spark gave no answer")
    return Newest(_parsed(row[0]) if row[0] is not None else None, int(row[1] or 0))


def _parsed(text: str) -> datetime:
    """The moment in Spark's text of it; sessions are held to UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as wrong:
        # Not which: the column may be classified.
        raise RockyError("the newest timestamp is none of the years 1 to 9999") from wrong
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def roughly(age: int, allowed: int) -> str:
    """A duration in whole units, of which there are two at least.

    What is too old is never rounded down to what would be allowed.
    """
    for unit, _, several in SHOWN_UNITS:
        if age >= 2 * unit and (age <= allowed or age // unit * unit > allowed):
            return f"{age // unit} {several}"
    return f"{age} s"


def judge_newest(
    outcome: AssertionOutcome, declared: FreshnessRecord, newest: Newest, now: datetime
) -> AssertionOutcome:
    """What the newest row means: of the limits that it exceeds, the worst one counts."""
    age, limits = newest.age(now), declared.limits
    if age is None:
        return replace(outcome, observed=f"no newest row{newest.said_ahead}", error=newest.why_none)
    for severity, allowed in limits.items():
        if age > allowed:
            return replace(
                outcome,
                severity=severity,
                observed=f"{roughly(age, allowed)} old{newest.said_ahead}",
                expected=f"at most {exactly(allowed)} old",
            )
    allowed = min(limits.values())
    observed = f"{roughly(age, allowed)} old{newest.said_ahead}"
    return replace(outcome, passed=True, observed=observed)


def opening_outcome(
    name: str, declared: FreshnessRecord, *, of_source: bool = False
) -> AssertionOutcome:
    """The outcome of a freshness that has not been looked at: failed, as severely as it can."""
    severity, _ = next(iter(declared.limits.items()))
    strictest = min(declared.limits.values())
    return AssertionOutcome(
        name,
        "freshness",
        "freshness",
        severity,
        passed=False,
        column=declared.time_column,
        expected=f"at most {exactly(strictest)} old",
        subject="source" if of_source else "model",
    )


def check_declared(
    read: Read,
    declared: FreshnessRecord,
    relations: BoundRelations,
    engine: Engine,
    now: datetime,
    diagnostician: Diagnostician,
) -> AssertionOutcome:
    """The declared freshness of a model or a source; what cannot be read is not fresh."""
    project = relations.project
    outcome = opening_outcome(name_of(project, read), declared, of_source=read.kind == "source")
    try:
        sql = newest_query(relations.view_of(read), declared.time_column, now)
        rows = engine.rows(engine.frame(sql), 1)
        newest = read_newest(rows[0] if rows else None)
    except STEP_ERRORS as failure:
        found = classify_step_failure(failure, engine.explain)
        said = diagnostician.reading(found, (read,)).message
        source = project.sources[read.key] if read.kind == "source" else None
        return replace(outcome, error=_without_place(source, said))
    return judge_newest(outcome, declared, newest, now)


def _without_place(source: SourceTable | None, said: str) -> str:
    return said if source is None else hide_location(source, said)
