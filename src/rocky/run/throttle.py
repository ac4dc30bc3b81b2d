"""The throttle of a run: how many jobs at once, and when enough have failed.

Additive increase, multiplicative decrease: every ten successes allow more, a service that is
overloaded halves what is allowed. What runs is never cancelled for it.
"""

from dataclasses import dataclass
from typing import Final, Literal

ADAPTIVE_MOST: Final = 32
_GROWS_AFTER: Final = 10
_JUDGED_AFTER: Final = 4
"""The share of failures says nothing before this many jobs have ended."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard a run tries. `abort_pct` 0 never gives up."""

    parallel: int | Literal["adaptive"]
    most: int = ADAPTIVE_MOST
    fail_fast: bool = False
    abort_pct: float = 0.0


class Throttle:
    """Counts how jobs end. Used by the scheduling thread alone.

    `failed` is how many had failed before the first could start.
    """

    def __init__(self, limits: Limits, failed: int = 0) -> None:
        self._limits = limits
        self._most = limits.most if limits.parallel == "adaptive" else limits.parallel
        self.allowed = max(1, self._most)
        self.slowdowns = 0
        self._in_a_row = 0
        self._done = 0
        self._failed = failed

    @property
    def is_adaptive(self) -> bool:
        return self._limits.parallel == "adaptive"

    @property
    def gave_up(self) -> str | None:
        """Why no further job is to start, if so."""
        if self._failed and self._limits.fail_fast:
            return "another table failed, and `fail_fast` is set"
        ended = self._done + self._failed
        share = 100 * self._failed / ended if ended else 0.0
        if self._limits.abort_pct and ended >= _JUDGED_AFTER and share >= self._limits.abort_pct:
            return (
                f"{self._failed} of {ended} tables had failed, and `error_rate_abort_pct` is"
                f" {self._limits.abort_pct:g}"
            )
        return None

    def ended(self, *, succeeded: bool, overloaded: bool = False) -> None:
        """A job ended; `overloaded` when it failed because too much was asked at once."""
        self._done += succeeded
        self._failed += not succeeded
        if not self.is_adaptive:
            return
        if overloaded:
            self.slowdowns += 1
            self.allowed = max(1, self.allowed // 2)
            self._in_a_row = 0
        elif succeeded:
            self._in_a_row += 1
            if self._in_a_row % _GROWS_AFTER == 0:
                step = 2 if self.allowed < self._most / 2 else 1
                self.allowed = min(self._most, self.allowed + step)
