"""Records of runs: what ran, how each model ended, what it wrote, how far its table is.

The field names are the JSON keys that an auditor reads, so they are part of the format: add fields
with a default, never rename one. What is not known is None here and absent there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, DriftRecord
from rocky.ledger.record import NO_RUN, Record, RunId

DIED: Final = "the process ended without finishing"
"""The `reason` of a run whose process was killed."""


class RunStatus(StrEnum):
    """How a run stands or ended. As it is stored."""

    RUNNING = "Running"
    SUCCESS = "Success"
    PARTIAL_FAILURE = "PartialFailure"
    FAILURE = "Failure"
    INTERRUPTED = "Interrupted"


class ModelStatus(StrEnum):
    """How one model of a run ended. As it is stored."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
    REUSED = "reused"
    INTERRUPTED = "interrupted"


class PartitionStatus(StrEnum):
    """How one time interval stands. As it is stored."""

    COMPUTED = "Computed"
    FAILED = "Failed"
    IN_PROGRESS = "InProgress"
    INTERRUPTED = "Interrupted"


class ProgressStatus(StrEnum):
    """How one table of a running run ended. As it is stored."""

    SUCCESS = "Success"
    FAILED = "Failed"
    SKIPPED = "Skipped"
    INTERRUPTED = "Interrupted"


@dataclass(frozen=True, slots=True)
class InputRecord(Record):
    """What a model read of one input, pinned: a table's version, or a source's place.

    `identity` is the BLAKE3 of its sorted file hashes, or what stands for it in a source.
    """

    name: str
    target: str | None = None
    uri: str | None = None
    version: str | None = None
    identity: str | None = None
    rows_hash: str | None = None


@dataclass(frozen=True, slots=True)
class CommitRecord(Record):
    """A commit to a table's log: `blake3_hash` is of the bytes of `_delta_log/<version>.json`.

    `run_id` and `model_name` say who made it, where that is not the execution that records it.
    `foreign` is `accepted` or `rejected` for one that no run has made, as somebody decided.
    """

    version: int
    blake3_hash: str
    checkpoint_blake3: str | None = None
    run_id: RunId | None = None
    model_name: str | None = None
    foreign: str | None = None


@dataclass(frozen=True, slots=True)
class MetricsRecord(Record):
    """What Spark's tasks used for one model."""

    executor_run_ms: int | None = None
    executor_cpu_ms: int | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None
    peak_memory_bytes: int | None = None
    tasks: int | None = None
    rows_read: int | None = None


@dataclass(frozen=True, slots=True)
class CostRate(Record):
    """The rates, in USD, that a cost was computed with."""

    per_core_hour: float | None = None
    per_tb_read: float | None = None


@dataclass(frozen=True, slots=True)
class AttemptRecord(Record):
    """One try at building a model. Recorded only where there was more than one."""

    attempt: int
    outcome: str
    duration_ms: int
    failure_class: str | None = None
    transient_kind: str | None = None
    error: str | None = None
    backoff_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ModelExecution(Record):
    """What a run did with one model. `tags` are the model's at the time.

    `reason` says why it was built, reused or skipped, `action` what building it did.
    `commits` are those it made; `adopted` those of a run that died before it could record them.
    `source_marker` says what a copied source was when it was listed, `source_columns` is JSON of
    the columns it had, `copied_from` which source it was. `reused_from` is the run whose files are
    used instead of a build, `reused_model` what it called the model, `reuse_basis` what was found
    equal.
    """

    model_name: str
    status: ModelStatus
    started_at: datetime
    finished_at: datetime
    duration_ms: int
    target: str | None = None
    strategy: str | None = None
    decision: str | None = None
    reason: str | None = None
    action: str | None = None
    sql_hash: str = ""
    recipe_hash: str | None = None
    skip_hash: str | None = None
    input_hash: str | None = None
    input_proof_class: str | None = None
    env_hash: str | None = None
    reused_from: RunId | None = None
    reused_model: str | None = None
    reuse_basis: str | None = None
    inputs: tuple[InputRecord, ...] = ()
    rows_affected: int | None = None
    rows_hash: str | None = None
    canonical: bool | None = None
    files: int | None = None
    bytes_scanned: int | None = None
    bytes_written: int | None = None
    commit_version: int | None = None
    commits: tuple[CommitRecord, ...] = ()
    adopted: tuple[CommitRecord, ...] = ()
    metrics: MetricsRecord | None = None
    cost_usd: float | None = None
    cost_rate: CostRate | None = None
    attempts: tuple[AttemptRecord, ...] = ()
    error: str | None = None
    failure_kind: str | None = None
    watermark: str | None = None
    source_marker: str | None = None
    source_columns: str | None = None
    copied_from: str | None = None
    drift: tuple[DriftRecord, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineRecord(Record):
    """What can change a result or its bytes. Never put a secret into `settings`."""

    spark_version: str
    writer: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TotalsRecord(Record):
    """Sums over the models of a run. `duration_ms` is wall time, so parallel models share it."""

    duration_ms: int = 0
    models: int = 0
    failed: int = 0
    rows_affected: int | None = None
    bytes_scanned: int | None = None
    bytes_written: int | None = None
    core_ms: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetBreach(Record):
    """A limit that was exceeded; `model_name` is absent for the run's own."""

    limit_type: str
    limit: float
    actual: float
    model_name: str | None = None


@dataclass(frozen=True, slots=True)
class RunRecord(Record):
    """One run. `models_executed` is filled in when it ends; readers fill it in before that.

    `begin_run` chooses `run_id` from `started_at`; what is given is ignored. `anchored` is True
    when the ledger's head was left in `warehouse`. `unchanged` counts tables of a pipeline that had
    nothing new and so no execution. `unchanged_since` is the run that looked at everything last, of
    a run that found all of it so again: its models are that run's, and readers fill them in.
    `unvouched` is True when the remote state could not be reached:
    the run's commits then name no state of the ledger. `plan_id` is the kept plan it carried out.
    `fence` is the token of its claim: higher than that of any run before it on the same tables.
    `commit_key` is the public key its commits are signed with, recorded before the first of them.
    `ci` names the job of a CI service that it was part of, as that service's variables did.
    `started_anew` is True when somebody had it build tables of a state that was lost.
    `purpose` is the reason that was given for it at first, if it then ended for another.
    """

    started_at: datetime
    trigger: str
    config_hash: str
    hostname: str
    rocky_version: str
    run_id: RunId = NO_RUN
    status: RunStatus = RunStatus.RUNNING
    finished_at: datetime | None = None
    reason: str | None = None
    models_executed: tuple[ModelExecution, ...] = ()
    triggering_identity: str | None = None
    session_source: str = "cli"
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    target_catalog: str | None = None
    warehouse: str | None = None
    pipeline: str | None = None
    selection: tuple[str, ...] = ()
    full_refresh: bool = False
    engine: EngineRecord | None = None
    totals: TotalsRecord | None = None
    budget_breaches: tuple[BudgetBreach, ...] = ()
    anchored: bool | None = None
    resumed_from: RunId | None = None
    idempotency_key: str | None = None
    filter: str | None = None
    unchanged: int | None = None
    failed_sources: Mapping[str, str] = field(default_factory=dict)
    check_outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()
    unvouched: bool | None = None
    plan_id: str | None = None
    fence: int | None = None
    commit_key: str | None = None
    ci: Mapping[str, str] = field(default_factory=dict)
    started_anew: bool | None = None
    purpose: str | None = None
    unchanged_since: RunId | None = None

    @property
    def died(self) -> bool:
        """Whether the run's process was killed before it could say how it went."""
        return self.reason == DIED


GONE_BY_FOR: Final = timedelta(days=1)
"""For how long runs may go by one that looked at everything."""


def left_as_it_was(execution: ModelExecution) -> bool:
    """Whether a run found a table as it should be, and did nothing with it."""
    idle = execution.status is ModelStatus.SUCCESS and execution.decision == "skip"
    moved = execution.commits or execution.adopted or execution.metrics is not None
    return (idle or execution.status is ModelStatus.REUSED) and not moved


def unchanged_executions(looked: RunRecord, at: datetime) -> tuple[ModelExecution, ...]:
    """What a run that ended then did with its models, found as the run that `looked` left them."""
    return tuple(
        replace(each, started_at=at, finished_at=at, duration_ms=0)
        for each in looked.models_executed
    )


@dataclass(frozen=True, slots=True)
class ArtifactRecord(Record):
    """A file that a run wrote: its name is `blake3_hash`."""

    blake3_hash: str
    run_id: RunId
    model_name: str
    file_path: str
    commit_version: int
    size_bytes: int
    written_at: datetime


@dataclass(frozen=True, slots=True)
class PartitionRecord(Record):
    """A time interval of a model, as the last run that touched it left it."""

    model_name: str
    partition_key: str
    status: PartitionStatus
    computed_at: datetime
    row_count: int
    duration_ms: int
    run_id: RunId
    checksum: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TableProgress(Record):
    """A table that a running run has done with."""

    index: int
    table_key: str
    asset_key: tuple[str, ...]
    status: ProgressStatus
    duration_ms: int
    completed_at: datetime
    error: str | None = None


UNKNOWN_SOURCE: Final = ""
"""The `copied_from` of a copy that was taken over from a state that was lost."""
NO_MARK: Final = ""
"""The `last_value` of a table whose rows have no time: everything is loaded again."""


@dataclass(frozen=True, slots=True)
class WatermarkState(Record):
    """How far an incremental table has been loaded. The table's own log is what counts."""

    table: str
    last_value: str
    updated_at: datetime
    model_name: str | None = None
    run_id: RunId | None = None
