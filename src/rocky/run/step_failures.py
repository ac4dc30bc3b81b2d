"""A step that failed, as a value: who raised it is told apart in `rocky.run.failures`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepFailure:
    """Why a step failed, and whether the same step may succeed a moment later."""

    kind: str
    message: str
    retryable: bool = False
    condition: str | None = None
