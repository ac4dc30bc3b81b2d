"""The report of a pipeline: the tables it checked, the results of the checks, what it left alone.

Values only. `failed` already knows severities and `fail_on_error`; an outcome that did not pass may
be no failure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rocky.errors import InternalError
from rocky.language.datatypes.types import StructField
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, RowCount
from rocky.pipelines.exclusion import Exclusion
from rocky.project.configuration.freshness import FreshnessRecord
from rocky.project.models import Target
from rocky.project.sources import SourceTable
from rocky.run.engine.protocol import SourcePin
from rocky.run.outcomes import RunResult
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows as texts, under the names of their columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True)
class SourceSide:
    """What a table was copied from, as it was pinned for the copy.

    `rows` is its count where that is known already. `where` is a condition for a source that cannot
    be pinned: only rows that the copy could see are counted.
    """

    source: SourceTable
    pin: SourcePin | None = None
    rows: int | None = None
    where: str | None = None


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A table that is not of the warehouse: its columns and rows when the checks began."""

    source: SourceTable
    columns: tuple[StructField, ...] = ()
    rows: int = 0


class StoredTable(NamedTuple):
    """A table of the warehouse at a version."""

    table: Table
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """A table to check. `snapshot` is what the run left, `history` its counts before the run.

    One that is `live` has no snapshot: it lies in no warehouse. `freshness` is what its model or
    source says.

    `metadata_columns` are those the pipeline adds; `on_notice` those the source no longer has and
    the copy still keeps: both are right to be in the copy alone. A table that is `unchanged`, and
    so is its source, is not compared with it again.
    """

    target: Target
    table: Table | None
    snapshot: Snapshot | None
    source: SourceSide | None = None
    source_type: str = ""
    source_schema: str | None = None
    timestamp_column: str | None = None
    metadata_columns: tuple[str, ...] = ()
    on_notice: tuple[str, ...] = ()
    history: tuple[RowCount, ...] = ()
    unchanged: bool = False
    live: LiveTable | None = None
    freshness: FreshnessRecord | None = None

    @property
    def name(self) -> str:
        return self.target.full_name if self.live is None else self.live.source.name

    @property
    def key(self) -> str:
        return self.name.lower()

    @property
    def columns(self) -> tuple[StructField, ...]:
        return self.live.columns if self.live is not None else self.stored.snapshot.schema

    @property
    def rows(self) -> int:
        return self.live.rows if self.live is not None else self.stored.snapshot.rows

    @property
    def stored(self) -> StoredTable:
        """Where it lies in the warehouse, and at which version."""
        if self.table is None or self.snapshot is None:
            raise InternalError(f"`{self.name}` is not a table of the warehouse")
        return StoredTable(self.table, self.snapshot)


@dataclass(frozen=True, slots=True)
class UnreadableTable:
    """A table that should be checked and whose log cannot be read: that is a failed check."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ChecksResult:
    """What came of all checks. `counts` are by the tables' keys, `samples` by table and check."""

    outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()
    counts: Mapping[str, RowCount] = field(default_factory=dict)
    samples: Mapping[tuple[str, str], Sample] = field(default_factory=dict)
    failed: bool = False


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """A run and what it left alone. `checks` is None where none were asked for."""

    kind: str
    run: RunResult
    excluded: tuple[Exclusion, ...] = ()
    checks: ChecksResult | None = None
