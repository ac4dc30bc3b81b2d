"""`[pipeline.X.checks]`: data checks of a pipeline."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from rocky.project.assertions import Assertion
from rocky.project.rules import Amount, Between, NonNegative, Percent, Positive
from rocky.project.settings import CheckSeverity

TABLE_PLACE: Final = "{table}"
"""What stands in a custom query for the table that is checked."""
SOURCE_PLACE: Final = "{source}"
"""What stands in a custom query for the source that the table is a copy of."""

MOST_FLAT_RUNS: Final = 29
"""Counts are kept for 30 runs, and the one before the table grew no more must be among them."""


class Toggle(NamedTuple):
    """A check that is only switched on, with its severity."""

    enabled: bool = True
    severity: CheckSeverity = "error"


class FreshnessCheck(NamedTuple):
    """The newest row is not older than the threshold.

    The keys of `overrides` are names of schemas, or patterns of them. `timestamp_column` is for
    pipelines that have none of their own.
    """

    threshold_seconds: NonNegative
    overrides: Mapping[str, NonNegative] = {}
    severity: CheckSeverity = "error"
    timestamp_column: str | None = None


class NullRate(NamedTuple):
    """At most this share of a column is null, 1 being all of it, by a sample."""

    columns: tuple[str, ...]
    threshold: Amount
    sample_percent: Percent = 10.0
    severity: CheckSeverity = "error"


class CustomCheck(NamedTuple):
    """A query that counts bad rows."""

    name: str
    sql: str
    threshold: NonNegative = 0
    severity: CheckSeverity = "error"


class Overlap(NamedTuple):
    """Keys seen in more than one sibling source."""

    keys: tuple[str, ...] = ()
    key_expr: str | None = None
    severity: CheckSeverity = "error"
    max_overlap_rows: NonNegative = 0
    sample: Positive = 20


class Quarantine(NamedTuple):
    """What happens to rows that break an assertion."""

    enabled: bool = False
    mode: Literal["split", "tag", "drop"] = "split"
    suffix_valid: str = "__valid"
    suffix_quarantine: str = "__quarantine"


class Checks(NamedTuple):
    """All checks of a pipeline."""

    enabled: bool = False
    row_count: bool | Toggle = False
    column_match: bool | Toggle = False
    freshness: FreshnessCheck | None = None
    null_rate: NullRate | None = None
    custom: tuple[CustomCheck, ...] = ()
    cross_source_overlap: Overlap | None = None
    assertions: tuple[Assertion, ...] = ()
    quarantine: Quarantine = Quarantine()
    anomaly_threshold_pct: Amount = 50.0
    anomaly_severity: CheckSeverity = "warning"
    flat_line_runs: Annotated[int, Between(0, MOST_FLAT_RUNS)] = 3
    fail_on_error: bool = True
