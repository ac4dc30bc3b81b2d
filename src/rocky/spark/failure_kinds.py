"""What a failure of Spark can be. Values only: no pyspark here."""

from dataclasses import dataclass
from enum import Enum


class FailureKind(Enum):
    """Why a query failed."""

    QUERY_REJECTED = "query_rejected"
    DATA_ERROR = "data_error"
    TRANSIENT = "transient"
    OUT_OF_MEMORY = "out_of_memory"
    DISK_FULL = "disk_full"
    MISSING_FILE = "missing_file"
    CORRUPT_FILE = "corrupt_file"
    PERMISSION = "permission"
    CANCELLED = "cancelled"
    CONNECTION_LOST = "connection_lost"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether the same query can succeed a moment later with nothing changed by anybody."""
        return self is FailureKind.TRANSIENT


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, classified. `condition` is Spark's own name for it, if it has one."""

    kind: FailureKind
    message: str
    condition: str | None = None

    @property
    def retryable(self) -> bool:
        return self.kind.retryable
