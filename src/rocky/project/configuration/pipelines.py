"""`[pipeline.X]` and its checks: what is run together, one record a type."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple, get_args

from rocky.project.configuration.model import Assertion, CheckSeverity
from rocky.project.toml.documents import Amount, Between, NonNegative, Percent, Positive, Tagged

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


class Execution(NamedTuple):
    """How hard and how long a pipeline tries."""

    concurrency: Positive | Literal["adaptive"] = "adaptive"
    fail_fast: bool = False
    error_rate_abort_pct: Percent = 50.0
    table_retries: NonNegative = 1


class ScheduleRetry(NamedTuple):
    """Retries of a scheduled run."""

    max: NonNegative = 0


class Schedule(NamedTuple):
    """When a pipeline runs by itself."""

    cron: str | None = None
    timezone: str | None = None
    after: tuple[str, ...] = ()
    freshness: bool = False
    catchup: Literal["latest", "skip"] = "latest"
    retry: ScheduleRetry = ScheduleRetry()
    timeout_minutes: NonNegative = 0
    enabled: bool = True


class Grant(NamedTuple):
    """Permissions of one principal."""

    principal: str
    permissions: tuple[str, ...]


class Workspace(NamedTuple):
    """A workspace a catalogue is bound to."""

    id: int
    binding_type: Literal["READ_WRITE", "READ_ONLY"] = "READ_WRITE"


class Isolation(NamedTuple):
    """Which workspaces see the catalogue."""

    enabled: bool = False
    workspace_ids: tuple[Workspace, ...] = ()


class Governance(NamedTuple):
    """Tags, grants and what may be created."""

    auto_create_catalogs: bool = False
    auto_create_schemas: bool = False
    tag_prefix: str | None = None
    tags: Mapping[str, str] = {}
    isolation: Isolation = Isolation()
    grants: tuple[Grant, ...] = ()
    schema_grants: tuple[Grant, ...] = ()


class PipelineTarget(NamedTuple):
    """Where a pipeline writes; catalog and schema are defaults for its models."""

    adapter: str = "default"
    catalog: str | None = None
    schema: str | None = None
    governance: Governance = Governance()


class TransformationPipeline(NamedTuple):
    """Models that read tables and make tables."""

    models: str | tuple[str, ...] = "models/**"
    target: PipelineTarget = PipelineTarget()
    checks: Checks = Checks()
    execution: Execution = Execution()
    depends_on: tuple[str, ...] = ()
    schedule: Schedule | None = None
    type: str = "transformation"


class SchemaPattern(NamedTuple):
    """How the name of a source schema is taken apart."""

    prefix: str
    separator: str
    components: tuple[str, ...] = ()


class Discovery(NamedTuple):
    """Which adapter lists the source tables."""

    adapter: str = "default"
    report_new_sources: bool = False
    on_collision: Literal["off", "warn", "error"] = "off"


SourceKind = Literal["lake", "catalog", "jdbc"]
LakeFormat = Literal["auto", "parquet", "csv", "json", "delta", "orc"]


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
    discovery: Discovery | None = None

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
    catalog_template: str | None = None
    schema_template: str | None = None
    separator: str | None = None
    governance: Governance = Governance()


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


class ReplicationPipeline(NamedTuple):
    """Source tables copied as they are."""

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
    schedule: Schedule | None = None
    type: str = "replication"


class QualityTable(NamedTuple):
    """A table to check; without `table`, every table of the schema."""

    catalog: str
    schema: str
    table: str | None = None


class QualityTarget(NamedTuple):
    """The adapter whose tables are checked."""

    adapter: str = "default"


class QualityPipeline(NamedTuple):
    """Checks over tables that others make."""

    checks: Checks
    tables: tuple[QualityTable, ...] = ()
    target: QualityTarget = QualityTarget()
    execution: Execution = Execution()
    depends_on: tuple[str, ...] = ()
    schedule: Schedule | None = None
    type: str = "quality"


class SnapshotTable(NamedTuple):
    """A table in full, and the adapter that has it."""

    catalog: str
    schema: str
    table: str
    adapter: str = "default"
    governance: Governance = Governance()


class SnapshotPipeline(NamedTuple):
    """The history of a table's rows."""

    unique_key: tuple[str, ...]
    updated_at: str
    source: SnapshotTable
    target: SnapshotTable
    invalidate_hard_deletes: bool = False
    checks: Checks = Checks()
    execution: Execution = Execution()
    depends_on: tuple[str, ...] = ()
    schedule: Schedule | None = None
    type: str = "snapshot"


class LoadTarget(NamedTuple):
    """Where files are loaded to; without `table`, a table per file."""

    catalog: str
    schema: str
    table: str | None = None
    adapter: str = "default"
    governance: Governance = Governance()


class LoadOptions(NamedTuple):
    """How files are read."""

    batch_size: Positive = 10000
    create_table: bool = True
    truncate_first: bool = False
    csv_delimiter: str = ","
    csv_has_header: bool = True


class LoadPipeline(NamedTuple):
    """Files loaded into tables."""

    source_dir: str
    target: LoadTarget
    format: Literal["csv", "parquet", "json_lines"] | None = None
    options: LoadOptions = LoadOptions()
    contract: str | None = None
    checks: Checks = Checks()
    execution: Execution = Execution()
    depends_on: tuple[str, ...] = ()
    type: str = "load"


Pipeline = (
    TransformationPipeline | ReplicationPipeline | QualityPipeline | SnapshotPipeline | LoadPipeline
)

PIPELINES: Final = get_args(Pipeline)

PipelineSetting = Annotated[Pipeline, Tagged(PIPELINES, "transformation", "pipeline")]
