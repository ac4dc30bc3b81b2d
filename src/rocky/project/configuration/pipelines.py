"""`[pipeline.X]` and its checks: what is run together, one record a type."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple, get_args

from rocky.project.configuration.column_patterns import NO_PATTERNS, ColumnPatterns
from rocky.project.configuration.governed_catalog import TargetGovernance
from rocky.project.configuration.labels import NO_META, Meta
from rocky.project.configuration.model import Assertion, CheckSeverity
from rocky.project.configuration.paths import CatalogName, FolderName
from rocky.project.configuration.quality_tables import QualityTableSetting
from rocky.project.configuration.strategies import NullTime
from rocky.project.toml.documents import (
    Amount,
    Between,
    NonNegative,
    Percent,
    Positive,
    Refusal,
    Tagged,
    refuses,
)

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
    suffix_valid: FolderName = "__valid"
    suffix_quarantine: FolderName = "__quarantine"


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


class Execution(NamedTuple):
    """How many tables a pipeline handles at once, and how it retries."""

    concurrency: Positive | Literal["adaptive"] = "adaptive"
    fail_fast: bool = False
    error_rate_abort_pct: Percent = 50.0
    table_retries: NonNegative = 1


_SPARK_SHARES: Final = Refusal(
    "this pipeline handles its tables one at a time", "remove it; `table_retries` works here"
)


@refuses(concurrency=_SPARK_SHARES, fail_fast=_SPARK_SHARES, error_rate_abort_pct=_SPARK_SHARES)
class Retries(NamedTuple):
    """How a pipeline retries that handles its tables one at a time."""

    table_retries: NonNegative = 1


NO_SCHEDULE: Final = Refusal(
    "Rocky does not start runs by itself",
    "run `rocky run --pipeline NAME` from cron, Airflow or Dagster",
)
_NO_GOVERNANCE: Final = Refusal(
    "a snapshot is one table", "use `[[grant]]` and `[governance.tags]`, which are for it too"
)


class PipelineTarget(NamedTuple):
    """Where a pipeline writes; catalog and schema are defaults for its models."""

    adapter: str = "default"
    catalog: CatalogName | None = None
    schema: FolderName | None = None
    governance: TargetGovernance = TargetGovernance()


@refuses(
    schedule=NO_SCHEDULE,
    checks=Refusal(
        "the checks of a transformation pipeline are not run",
        'write `[[tests]]` beside its models, or use a pipeline of type "quality"',
    ),
    execution=Refusal(
        "`[resilience]` says how often a failed model is tried again",
        "set `[resilience]`; `rocky run --parallel N` limits how many models run at once",
    ),
)
class TransformationPipeline(NamedTuple):
    """Models that read tables and make tables."""

    models: str | tuple[str, ...] = "models/**"
    target: PipelineTarget = PipelineTarget()
    depends_on: tuple[str, ...] = ()
    description: str | None = None
    owner: str | None = None
    meta: Meta = NO_META
    type: str = "transformation"


class SchemaPattern(NamedTuple):
    """How the name of a source schema is split into components."""

    prefix: str
    separator: str
    components: tuple[str, ...] = ()


SourceKind = Literal["lake", "catalog", "jdbc"]
LakeFormat = Literal["auto", "parquet", "csv", "json", "delta", "orc"]


@refuses(
    discovery=Refusal(
        "the source itself lists its tables",
        "remove it; two tables that would be copied into one are always refused",
    ),
)
class ReplicationSource(NamedTuple):
    """Where tables are copied from: folders, Spark's own catalogue, or a database."""

    adapter: str = "default"
    type: SourceKind | None = None
    path: str | None = None
    format: LakeFormat = "auto"
    url: str | None = None
    options: Mapping[str, str | bool | int | float] = {}
    catalog: str | None = None
    schema_pattern: SchemaPattern | None = None

    @property
    def kind(self) -> SourceKind:
        """What is read: as `type` says, else as `path` and `url` tell."""
        if self.type is not None:
            return self.type
        if self.path is not None:
            return "lake"
        return "jdbc" if self.url is not None else "catalog"


class ReplicationTarget(NamedTuple):
    """Where tables are copied to; templates name components of the schema pattern."""

    adapter: str = "default"
    catalog_template: CatalogName | None = None
    schema_template: FolderName | None = None
    separator: str | None = None
    governance: TargetGovernance = TargetGovernance()


class MetadataColumn(NamedTuple):
    """A column added to every copied table."""

    name: str
    type: str
    value: str


class OverrideMatch(NamedTuple):
    """Which tables an override is for."""

    connector: str | None = None
    table: str | None = None


ReplicationStrategy = Literal["incremental", "full_refresh", "merge", "view", "materialized_view"]


class TableOverride(NamedTuple):
    """Other settings for some tables."""

    match: OverrideMatch
    strategy: ReplicationStrategy | None = None
    merge_keys: tuple[str, ...] | None = None
    merge_keys_fallback: tuple[str, ...] | None = None
    timestamp_column: str | None = None
    enabled: bool | None = None


@refuses(schedule=NO_SCHEDULE)
class ReplicationPipeline(NamedTuple):
    """Source tables copied.

    `classification` has tags by `TABLE.COLUMN`, in which `*` stands for any letters.
    """

    strategy: ReplicationStrategy = "incremental"
    timestamp_column: str = "_fivetran_synced"
    merge_keys: tuple[str, ...] = ()
    merge_keys_fallback: tuple[str, ...] = ()
    metadata_columns: tuple[MetadataColumn, ...] = ()
    prune_unchanged: bool = True
    table_overrides: tuple[TableOverride, ...] = ()
    source: ReplicationSource = ReplicationSource()
    target: ReplicationTarget = ReplicationTarget()
    checks: Checks = Checks()
    execution: Execution = Execution()
    depends_on: tuple[str, ...] = ()
    description: str | None = None
    owner: str | None = None
    meta: Meta = NO_META
    classification: ColumnPatterns = NO_PATTERNS
    type: str = "replication"


class QualityTarget(NamedTuple):
    """The adapter whose tables are checked."""

    adapter: str = "default"


@refuses(schedule=NO_SCHEDULE)
class QualityPipeline(NamedTuple):
    """Checks of tables that something else writes."""

    checks: Checks
    tables: tuple[QualityTableSetting, ...] = ()
    target: QualityTarget = QualityTarget()
    execution: Retries = Retries()
    depends_on: tuple[str, ...] = ()
    description: str | None = None
    owner: str | None = None
    meta: Meta = NO_META
    type: str = "quality"


@refuses(governance=_NO_GOVERNANCE)
class SnapshotTable(NamedTuple):
    """A table in full, and the adapter that has it."""

    catalog: CatalogName
    schema: FolderName
    table: FolderName
    adapter: str = "default"


@refuses(schedule=NO_SCHEDULE)
class SnapshotPipeline(NamedTuple):
    """The history of a table's rows. `classification` is as that of a replication."""

    unique_key: tuple[str, ...]
    updated_at: str
    source: SnapshotTable
    target: SnapshotTable
    invalidate_hard_deletes: bool = False
    null_updated_at: NullTime = "fail"
    checks: Checks = Checks()
    execution: Retries = Retries()
    depends_on: tuple[str, ...] = ()
    description: str | None = None
    owner: str | None = None
    meta: Meta = NO_META
    classification: ColumnPatterns = NO_PATTERNS
    type: str = "snapshot"


class LoadTarget(NamedTuple):
    """Where files are loaded to; without `table`, a table per file."""

    catalog: CatalogName
    schema: FolderName
    table: FolderName | None = None
    adapter: str = "default"
    governance: TargetGovernance = TargetGovernance()


@refuses(batch_size=Refusal("all new files of a table are loaded in one commit", "remove it"))
class LoadOptions(NamedTuple):
    """How files are read."""

    create_table: bool = True
    truncate_first: bool = False
    csv_delimiter: str = ","
    csv_has_header: bool = True


@refuses(schedule=NO_SCHEDULE)
class LoadPipeline(NamedTuple):
    """Files loaded into tables. `classification` is as that of a replication."""

    source_dir: str
    target: LoadTarget
    format: Literal["csv", "parquet", "json_lines"] | None = None
    options: LoadOptions = LoadOptions()
    contract: str | None = None
    checks: Checks = Checks()
    execution: Execution = Execution()
    depends_on: tuple[str, ...] = ()
    description: str | None = None
    owner: str | None = None
    meta: Meta = NO_META
    classification: ColumnPatterns = NO_PATTERNS
    type: str = "load"


Pipeline = (
    TransformationPipeline | ReplicationPipeline | QualityPipeline | SnapshotPipeline | LoadPipeline
)

PIPELINES: Final = get_args(Pipeline)

PipelineSetting = Annotated[
    Pipeline, Tagged(PIPELINES, "transformation", "pipeline", (("source", "replication"),))
]
