"""`[state]`: where the ledger lives between runs."""

from typing import Literal, NamedTuple

from rocky.project.adapter import Retry
from rocky.project.rules import NonNegative, Positive

Domain = Literal["history", "lineage", "audit"]


class Idempotency(NamedTuple):
    """How long a run's key keeps a second one away."""

    retention_days: NonNegative = 30
    dedup_on: Literal["success", "any"] = "success"
    in_flight_ttl_hours: NonNegative = 24


class StateRetention(NamedTuple):
    """What a sweep may forget."""

    max_age_days: NonNegative = 365
    min_runs_kept: NonNegative = 100
    applies_to: tuple[Domain, ...] = ("history", "lineage", "audit")
    sweep_interval_seconds: NonNegative = 3600
    sweep_budget_ms: NonNegative = 5000


class State(NamedTuple):
    """The backend and how it is treated.

    Some values are read only to be refused with a reason: see `_check_state` in
    `rocky.project.config`.
    """

    backend: Literal["local", "s3", "gcs", "valkey", "tiered"] = "local"
    s3_bucket: str | None = None
    s3_prefix: str = "rocky/state/"
    gcs_bucket: str | None = None
    gcs_prefix: str = "rocky/state/"
    valkey_url: str | None = None
    valkey_prefix: str = "rocky:state:"
    transfer_timeout_seconds: Positive = 300
    retry: Retry = Retry()
    on_upload_failure: Literal["skip", "fail"] = "skip"
    idempotency: Idempotency = Idempotency()
    retention: StateRetention = StateRetention()
    namespacing: Literal["none", "pipeline"] = "none"
    on_schema_mismatch: Literal["recreate", "fail"] = "fail"
    freeze_marker_writes: bool = False
    concurrency_control: Literal["off", "cas"] = "cas"

    def __repr__(self) -> str:
        """As any record, but for what may hold a password."""
        shown = self._replace(valkey_url=None if self.valkey_url is None else "***")
        fields = zip(self._fields, shown, strict=True)
        return f"State({', '.join(f'{name}={value!r}' for name, value in fields)})"
