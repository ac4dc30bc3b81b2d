"""Events: how each transfer of the state ended, one a transfer, for alerts and not for reading.

The `outcome` is one of a closed list, so that nobody has to match texts. No event holds a secret:
places are without passwords, and what servers said was scrubbed before it came here.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from rocky.canonical import line_json
from rocky.ledger.record import encode_record

LOGGER: Final = logging.getLogger("rocky.state")

DOWNLOAD: Final = "state.download"
UPLOAD: Final = "state.upload"
CACHE: Final = "state.cache"


class Outcome(StrEnum):
    """How a transfer ended."""

    OK = "ok"
    ABSENT = "absent"
    TIMEOUT = "timeout"
    ERROR_THEN_FRESH = "error_then_fresh"
    TRANSIENT_EXHAUSTED = "transient_exhausted"
    BUDGET_EXHAUSTED = "budget_exhausted"
    CIRCUIT_OPEN = "circuit_open"
    SKIPPED_AFTER_FAILURE = "skipped_after_failure"
    ERROR = "error"
    CONFLICT = "conflict"
    CACHE_STALE = "cache_stale"
    CACHE_ALTERED = "cache_altered"
    CACHE_FAILED = "cache_failed"


_FINE: Final = frozenset({Outcome.OK, Outcome.ABSENT})


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """One transfer that has ended. `cause` is the outcome that a policy turned into another.

    `merges` counts how often the copy of somebody who was faster was merged with ours.
    """

    operation: str
    outcome: Outcome
    backend: str
    place: str
    attempts: int = 0
    duration_ms: int = 0
    size_bytes: int | None = None
    merges: int | None = None
    cause: Outcome | None = None
    detail: str | None = None

    def to_json(self) -> dict[str, Any]:
        document = encode_record(self)
        return {"event": document.pop("operation"), **document}


SyncListener = Callable[[SyncEvent], None]


def format_event(event: SyncEvent) -> str:
    """An event as one line of JSON."""
    return line_json(event.to_json())


def announce(event: SyncEvent, listener: SyncListener | None) -> None:
    """Log an event, with its fields, and tell whoever listens."""
    level = logging.INFO if event.outcome in _FINE else logging.WARNING
    fields = {f"state_{name}": value for name, value in event.to_json().items()}
    LOGGER.log(level, "%s: %s", event.operation, event.outcome.value, extra=fields)
    if listener is not None:
        listener(event)
