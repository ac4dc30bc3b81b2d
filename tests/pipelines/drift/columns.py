"""Columns and decisions in a form that reads well in a test."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from rocky.language.datatypes.text import parse_schema, parse_type
from rocky.language.datatypes.types import StructField
from rocky.ledger.pipeline_records import GracePeriod
from rocky.pipelines.drift.decision import DriftDecision, GraceTerms, decide_drift
from rocky.pipelines.drift.projection import Projected

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TABLE = "lake.raw.orders"


def columns(text: str) -> list[StructField]:
    return parse_schema(text)


def metadata(name: str, kind: str = "string") -> Projected:
    return Projected(name, f"CAST(NULL AS {kind})", StructField(name, parse_type(kind), True))


def grade(
    source: str,
    target: str | None,
    *,
    recorded: str | None = None,
    own: Sequence[Projected] = (),
    periods: Sequence[GracePeriod] = (),
    after: float = 0,
    days: int = 7,
) -> DriftDecision:
    """The decision `after` some days; without `recorded`, the source was as the target is."""
    before = recorded if recorded is not None else target
    return decide_drift(
        columns(source),
        None if before is None else columns(before),
        None if target is None else columns(target),
        own,
        GraceTerms(TABLE, periods, NOW + timedelta(days=after), days),
    )


def told(decision: DriftDecision) -> list[str]:
    """Each record as `column grade action before>after days`."""
    return [
        " ".join(
            str(part)
            for part in (
                each.column,
                each.grade,
                each.action,
                f"{each.before}>{each.after}",
                each.days_left,
            )
            if part is not None
        )
        for each in decision.records
    ]


def made(decision: DriftDecision) -> list[str]:
    """Each projected column as `name type = sql`."""
    return [f"{each.name} {each.field.type} = {each.sql}" for each in decision.projection]
