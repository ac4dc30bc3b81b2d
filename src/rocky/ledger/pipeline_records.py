"""Records of pipelines that copy, load and check tables: counts, columns on notice, files, keys.

As in `rocky.ledger.run_records`, the field names are the JSON keys that an auditor reads.
"""

from dataclasses import dataclass
from datetime import datetime

from rocky.ledger.record import NO_RUN, Record, RunId


@dataclass(frozen=True, slots=True)
class DriftRecord(Record):
    """One difference between a live source and its copy, and what was decided about it.

    `grade` is how far it goes (`ignore`, `add`, `widen`, `grace`, `replace`), `before` and `after`
    are types. `reaches` are the columns downstream, as `model.column`, that read this one.
    """

    column: str
    grade: str
    action: str
    before: str | None = None
    after: str | None = None
    days_left: int | None = None
    reaches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GracePeriod(Record):
    """A column whose source dropped or retyped it: it stays until the period ends.

    `table` is the full name of the copy; `change` is `dropped` or `retyped`, and `type` what the
    source has now, if it has the column.
    """

    table: str
    column: str
    change: str
    first_seen_at: datetime
    expires_at: datetime
    type: str | None = None
    run_id: RunId | None = None


@dataclass(frozen=True, slots=True)
class RowCount(Record):
    """How many rows a table had after a run: one element of its `check_history`."""

    count: int
    timestamp: datetime


@dataclass(frozen=True, slots=True)
class LoadedFile(Record):
    """A file that a load pipeline has brought into a table: known by its bytes, not its name.

    The ledger puts in the run that records it. `replaced` when that run replaced the table: rows of
    files that were loaded before are gone.
    """

    table: str
    blake3_hash: str
    path: str
    size_bytes: int
    loaded_at: datetime
    run_id: RunId = NO_RUN
    rows: int | None = None
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class IdempotencyRecord(Record):
    """A run that was asked for under a key. `state` is `InFlight`, `Succeeded` or `Failed`.

    `run_id` is empty until the run has one; `owner` is the lock of the process that asked.
    """

    key: str
    run_id: RunId
    state: str
    since: datetime
    expires_at: datetime
    hostname: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class CheckOutcome(Record):
    """The result of one check of a table. `error` says why it could not be evaluated."""

    table: str
    name: str
    kind: str
    passed: bool
    severity: str = "error"
    observed: str | None = None
    expected: str | None = None
    failing_rows: int | None = None
    error: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class AnomalyRecord(Record):
    """A table whose row count is unusual for its history.

    `kind` is `drop`, `spike` or `flat`.
    """

    table: str
    kind: str
    current_count: int
    baseline_avg: float
    deviation_pct: float
    reason: str
    severity: str = "warning"
