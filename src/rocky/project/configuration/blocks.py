"""The blocks of `rocky.toml` other than pipelines, one record each, with their defaults.

`[adapter]` is the engine that runs the models: there is one kind, Spark, reached by `master` or by
`remote`, and `conf` goes to it as texts. `[state]` says where the ledger lives between runs.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.language.dialects.table import Dialect
from rocky.project.configuration.dialects import Allowed
from rocky.project.configuration.paths import OwnFile
from rocky.project.configuration.spark_settings import NO_CONF, Master, Remote, SparkConf
from rocky.project.toml.documents import (
    Amount,
    Days,
    Factor,
    NonNegative,
    Parsed,
    Positive,
    Problem,
    Problems,
    ReadBy,
    Refusal,
    refuses,
)
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys


class Retry(NamedTuple):
    """Backing off from a failing service. A threshold of 0 switches the breaker off."""

    max_retries: NonNegative = 3
    initial_backoff_ms: NonNegative = 1000
    max_backoff_ms: NonNegative = 30000
    backoff_multiplier: Factor = 2.0
    jitter: bool = True
    circuit_breaker_threshold: NonNegative = 5
    circuit_breaker_recovery_timeout_secs: NonNegative | None = None
    max_retries_per_run: NonNegative | None = None


@refuses(
    kind=Refusal("every adapter both reads and writes", "remove it"),
    retry=Refusal(
        "`[resilience]` says how often a failed model is tried again",
        "set `[resilience]`; for remote state, `[state.retry]`",
    ),
)
class Adapter(NamedTuple):
    """How to reach Spark and where its tables live."""

    type: Literal["spark"] = "spark"
    master: Master | None = None
    remote: Remote | None = None
    warehouse: str = "warehouse"
    iceberg: bool = False
    register: bool = False
    conf: SparkConf = NO_CONF


DEFAULT_ADAPTER: Final = "default"


def adapter_key(adapters: Mapping[str, Adapter], name: str) -> str | None:
    """The key of the adapter that a name means: the only one is the default too. None for none."""
    if name not in adapters and name == DEFAULT_ADAPTER and len(adapters) == 1:
        return next(iter(adapters))
    return name if name in adapters else None


Domain = Literal["history", "lineage", "audit"]


class Idempotency(NamedTuple):
    """How long an idempotency key blocks a second run."""

    retention_days: Days = 30
    dedup_on: Literal["success", "any"] = "success"
    in_flight_ttl_hours: NonNegative = 24


class StateRetention(NamedTuple):
    """What a sweep may forget."""

    max_age_days: Days = 365
    min_runs_kept: NonNegative = 100
    applies_to: tuple[Domain, ...] = ("history", "lineage", "audit")
    sweep_interval_seconds: NonNegative = 3600
    sweep_budget_ms: NonNegative = 5000


Backend = Literal["local", "s3", "valkey", "tiered"]
_BACKENDS: Final = reader_for(Backend)
_NO_GCS: Final = Refusal(
    "its server knows no conditional puts by ETag, without which two runs could overwrite each"
    " other",
    'use `backend = "s3"`, "valkey" or "tiered"',
)


def _read_backend(value: Any, at: Keys, problems: Problems) -> Any:
    if value == "gcs":
        message = f"the `gcs` backend is not supported: {_NO_GCS.reason}"
        problems.append(Problem(at, message, _NO_GCS.help))
        return INVALID
    return _BACKENDS(value, at, problems)


@refuses(
    gcs_bucket=_NO_GCS,
    gcs_prefix=_NO_GCS,
    concurrency_control=Refusal("remote state is never overwritten blindly", "remove it"),
    on_schema_mismatch=Refusal(
        "a state file of a newer Rocky is evidence and is not deleted",
        "remove it; upgrade Rocky, or move the file away",
    ),
    namespacing=Refusal(
        "one project has one ledger",
        "remove it; pipelines that must not share a ledger need projects of their own",
    ),
    freeze_marker_writes=Refusal("no run looks for such a marker", "remove it"),
)
class State(NamedTuple):
    """The backend and how it is treated."""

    backend: Annotated[Backend, ReadBy(_read_backend)] = "local"
    s3_bucket: str | None = None
    s3_prefix: str = "rocky/state/"
    valkey_url: str | None = None
    valkey_prefix: str = "rocky:state:"
    transfer_timeout_seconds: Positive = 300
    retry: Retry = Retry()
    on_upload_failure: Literal["skip", "fail"] = "skip"
    idempotency: Idempotency = Idempotency()
    retention: StateRetention = StateRetention()

    def __repr__(self) -> str:
        """As any record, but for what may hold a password."""
        shown = self._replace(valkey_url=None if self.valkey_url is None else "***")
        fields = zip(self._fields, shown, strict=True)
        return f"State({', '.join(f'{name}={value!r}' for name, value in fields)})"


_NO_DBU: Final = Refusal("Spark counts no DBUs", "set `compute_cost_per_core_hour`")


@refuses(
    storage_cost_per_gb_month=Refusal("the cost of a run has no part for storage", "remove it"),
    compute_cost_per_dbu=_NO_DBU,
    warehouse_size=_NO_DBU,
)
class Cost(NamedTuple):
    """The rates a run's cost is computed with, in USD; a part without a rate has no price."""

    compute_cost_per_core_hour: Amount | None = None
    scan_cost_per_tb: Amount | None = None
    min_history_runs: Positive = 5


class SchemaEvolution(NamedTuple):
    """How long a dropped column stays."""

    grace_period_days: Days = 7


class Compile(NamedTuple):
    """What a compile makes of names that nothing declares.

    With `undeclared = "unknown"` a table that is no model, source or seed is one of Spark's own
    catalogue with unknown columns, a source may leave out its `columns`, and a function that Spark
    does not ship is called with an unknown result.
    """

    undeclared: Literal["error", "unknown"] = "error"


class Python(NamedTuple):
    """Whether the code of Python models may be run to know what they give.

    `trusted` runs it for a person who compiles or runs; with `never` a model's declared `output` is
    believed. Where a change is judged, as in `rocky ci`, no file has its code run: the variable
    `ROCKY_ANALYSE=always` does, which only who sets up the build can set.
    """

    analyse: Literal["trusted", "never"] = "trusted"


class Portability(NamedTuple):
    """The other engines that models are meant for, and what may be read otherwise there.

    `allow` names functions and forms of the table in `rocky.language.dialects`.
    """

    targets: tuple[Dialect, ...] = ()
    allow: Allowed = ()


class Reuse(NamedTuple):
    """Whether recorded results may be used instead of building.

    With `sources = "stat"` a source's file is read again when its size, times or inode are others;
    with `"bytes"` it is always read.
    """

    enabled: bool = True
    column_level: bool = True
    sources: Literal["stat", "bytes"] = "stat"


class Gc(NamedTuple):
    """What `rocky gc` removes: files younger than `min_age_days` always stay.

    Runs of the last `retention_days` stay replayable; unset, it is `[state.retention]
    max_age_days`. Without `physical_delete`, `rocky gc` only says what it would remove.
    """

    physical_delete: bool = True
    min_age_days: Days = 7
    retention_days: Days | None = None


_SIZE: Final = re.compile(r"([0-9]{1,9})(k|kb|m|mb|g|gb)", re.IGNORECASE)
_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZES: Final = (1 << 20, 1 << 30)


def _file_bytes(text: str) -> int:
    found = _SIZE.fullmatch(text)
    return int(found[1]) * _UNITS[found[2][0].lower()] if found is not None else 0


def _parse_file_size(value: Any) -> str:
    if isinstance(value, str) and _SIZES[0] <= _file_bytes(value) <= _SIZES[1]:
        return value
    raise ValueError(f'`{value}` is no size of a file: write one from "1m" to "1g"')


FileSize = Annotated[str, Parsed(_parse_file_size)]


class Maintenance(NamedTuple):
    """How tables are looked after: `rocky compact` makes files of about `target_file_size`."""

    target_file_size: FileSize = "128m"

    @property
    def target_bytes(self) -> int:
        return _file_bytes(self.target_file_size)


@refuses(
    contain_failures=Refusal("a failed model never stops models that do not read it", "remove it"),
    auto_apply_additive_drift=Refusal(
        "a copy always gets the new columns of its source", "remove it"
    ),
)
class Resilience(NamedTuple):
    """How a run retries transient failures."""

    enabled: bool = True
    transient_max_retries: NonNegative = 2
    initial_backoff_ms: NonNegative = 500
    max_backoff_ms: NonNegative = 30000
    backoff_multiplier: Factor = 2.0
    jitter: bool = True
    circuit_breaker_threshold: NonNegative = 3
    max_retries_per_run: NonNegative = 8


AuthorProof = Literal["none", "signed_commits"]


class Approval(NamedTuple):
    """Who must sign before a branch is promoted, and for how long that holds.

    `allowed_signers` is a file of OpenSSH's, its path from the project's folder on. The rules that
    count are those of the commit a branch is compared with; a change can only make them stricter.
    `author_proof` says by what its authors are known: by what commits say, or by who signed them.
    """

    required: bool = False
    min_approvers: Positive = 1
    max_age_seconds: Positive = 86400
    allow_author: bool = False
    allowed_signers: str = "allowed_signers"
    author_proof: AuthorProof = "none"


class Branch(NamedTuple):
    """Rules for branches."""

    approval: Approval = Approval()


class Evidence(NamedTuple):
    """When the heads of the ledger and of its tables are sealed, with which key, and where to.

    `seal_key` is a key's file from the project's folder on, or its public half; without one it is
    found as for approvals. `seal_dir` is a folder of the project.
    """

    seal: Literal["never", "every_run"] = "never"
    seal_key: str | None = None
    seal_dir: OwnFile = "seals"


class Import(NamedTuple):
    """Another project's published tables.

    `path` is where its interface is fetched from, `snapshot` where it is kept here and `baseline`
    where the accepted one is. `pin` is the only hash that is accepted, or `*`. `warehouse` is
    where its tables are; without it they are tables of Spark's catalogue.
    """

    path: str | None = None
    snapshot: OwnFile | None = None
    baseline: OwnFile | None = None
    pin: str | None = None
    warehouse: str | None = None


class Publish(NamedTuple):
    """What this project publishes to others.

    `models` are selectors, none meaning all that have a table; `consumers` are the interfaces of
    projects whose reads every compile looks at. A column with a tag is published masked, or where
    `allow_tags` has the tag.
    """

    name: str | None = None
    out: OwnFile = "interface.json"
    models: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    allow_tags: tuple[str, ...] = ()
